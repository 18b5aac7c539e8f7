"""Modules of functions: one decorated, typed declaration each; the decorator puts the native function in its place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from buildsys.bindgen import ir
from buildsys.bindgen.catalogue import BoundHeader
from buildsys.bindgen.layout import call, group
from buildsys.bindgen.mapping import Mapper, Place, Uses, python_name
from buildsys.bindgen.names import Names
from buildsys.bindgen.render.module import frame, imports_for
from buildsys.errors import BindgenError

# The declarations' bodies are `...`, and what they return is what C returns.
_PRAGMA = '# mypy: disable-error-code="empty-body"'


def function_modules(header: ir.Header, bound: BoundHeader, names: Names, mapper: Mapper) -> dict[str, str]:
    """Text of each function module of a header, by module name."""
    return {
        module: _module(header, bound, module, functions, names=names, mapper=mapper)
        for module, functions in sections(header, bound).items()
    }


def sections(header: ir.Header, bound: BoundHeader) -> dict[str, list[ir.Function]]:
    """The header's functions by module; every function is in exactly one."""
    starts = {section.first: section.module for section in bound.sections}
    found: dict[str, list[ir.Function]] = {}
    current = bound.sections[0].module
    for function in header.of(ir.Function):
        current = starts.pop(function.name, current)
        found.setdefault(current, []).append(function)
    if starts:
        raise BindgenError(
            f"{header.path} has no function {', '.join(starts)}, where a section is to start",
            hint="name another first function in buildsys/bindgen/headers.toml",
        )
    return found


def _module(header: ir.Header, bound: BoundHeader, module: str, functions: Sequence[ir.Function], *, names: Names, mapper: Mapper) -> str:
    uses = Uses()
    body: list[str] = []
    for function in functions:
        body += ["", "", *_function(function, bound, mapper, uses)]
    decorator = "backend_symbols import backend_function" if bound.backend else "symbols import c_function"
    imports = imports_for(uses, names.owner, "", [f"from llama_cpp._native.{decorator}"])
    title = f"{PurePath(header.path).name}: functions of its {module.replace('_', ' ')} section."
    return frame(header, title, imports, body, pragma=_PRAGMA)


def _function(function: ir.Function, bound: BoundHeader, mapper: Mapper, uses: Uses) -> list[str]:
    arguments = [mapper.runtime(parameter.type, Place.ARGUMENT, uses) for parameter in function.params]
    result = mapper.runtime(function.result, Place.RESULT, uses)
    items = [f'"{bound.backend or bound.library}"', group("[", arguments), result]
    if bound.cplusplus:
        items.append(group("symbols=(", [f'"{symbol}"' for symbol in function.symbols]))
    head = "@backend_function(" if bound.backend else "@c_function("
    return call(head, items, "") + _signature(function, mapper, uses)


def _signature(function: ir.Function, mapper: Mapper, uses: Uses) -> list[str]:
    parameters = []
    for index, parameter in enumerate(function.params):
        name = python_name(parameter.name) or f"arg{index}"
        parameters.append(f"{name}: {mapper.static(parameter.type, Place.ARGUMENT, uses)}")
    if parameters:
        parameters.append("/")
    if function.variadic:
        parameters.append("*args: object")
    result = mapper.static(function.result, Place.RESULT, uses)
    return call(f"def {function.name}(", parameters, f" -> {result}: ...")
