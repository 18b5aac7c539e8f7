"""Modules of constants: enumerations as IntEnum classes and as flat ints, and constant macros."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from buildsys.bindgen import ir
from buildsys.bindgen.catalogue import BoundHeader
from buildsys.bindgen.names import Names
from buildsys.bindgen.render.module import frame
from buildsys.errors import BindgenError


def constant_modules(header: ir.Header, bound: BoundHeader, names: Names) -> dict[str, str]:
    """Text of each constants module of a header, by module name."""
    enums = {enum.tag: enum for enum in header.of(ir.Enum)}
    moved = {tag: module for module, tags in bound.constants.items() for tag in tags}
    unknown = sorted(set(moved) - set(enums))
    if unknown:
        raise BindgenError(
            f"{header.path} has no enumeration {', '.join(unknown)}", hint="correct constants in buildsys/bindgen/headers.toml"
        )
    modules: dict[str, list[ir.Enum]] = {header.key: [enum for tag, enum in enums.items() if tag not in moved]}
    for tag, module in moved.items():
        modules.setdefault(module, []).append(enums[tag])
    return {
        module: _module(header, chosen, header.of(ir.Macro) if module == header.key else [], names) for module, chosen in modules.items()
    }


def _module(header: ir.Header, enums: Sequence[ir.Enum], macros: Sequence[ir.Macro], names: Names) -> str:
    body = [f"{macro.name} = {_value(macro.value)}" for macro in macros]
    for enum in enums:
        if enum.tag:
            body += ["", "", f"class {names.enum(enum.tag)}(IntEnum):"]
            body += [f"    {name} = {value}" for name, value in enum.constants]
            body.append("")
        body.append("")
        body += [f"{name} = {value}" for name, value in enum.constants]
    imports = ["from enum import IntEnum"] if any(enum.tag for enum in enums) else []
    return frame(header, f"{PurePath(header.path).name}: constants.", imports, body)


def _value(value: float | bytes) -> str:
    if isinstance(value, bytes):
        return 'b"' + repr(value)[2:-1].replace('"', '\\"') + '"'
    return repr(value)
