"""Compares the layouts that ctypes computes with those the C compiler reported when the libraries were built."""

from __future__ import annotations

import ctypes
import importlib
import json
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llama_cpp._native.bindings import declarations

LAYOUT_FILE = "abi.json"
"""Name of the report, which lies beside the libraries it was made with."""

_RECORDS = (ctypes.Structure, ctypes.Union)


@dataclass(frozen=True, kw_only=True)
class Mismatch:
    """One difference. `expected` is what C has; None on either side means that this side lacks the item."""

    record: str
    item: str
    expected: int | None
    actual: int | None

    def __str__(self) -> str:
        return f"{self.record}: {self.item} is {self.actual} in the bindings, {self.expected} in C"


def check(path: Path) -> list[Mismatch]:
    """Compare every record of a layout report with its ctypes class; an empty list when all agree.

    A record or member on one side only counts as a difference, except for the C++ ones, which no report covers.
    """
    report = json.loads(path.read_text(encoding="utf-8"))["records"]
    classes = record_classes()
    found = [difference for name, layout in report.items() for difference in _compare(name, layout, classes.get(name))]
    unreported = sorted(set(classes) - set(report))
    return found + [Mismatch(record=name, item="size", expected=None, actual=ctypes.sizeof(classes[name])) for name in unreported]


def record_classes() -> dict[str, type[ctypes.Structure | ctypes.Union]]:
    """The named records of the C headers, by name; those nested in another record belong to it."""
    found = {}
    for module in pkgutil.iter_modules(declarations.__path__, f"{declarations.__name__}."):
        if module.name.endswith("_ext"):
            continue  # C++: a C compiler can't report on it
        namespace = vars(importlib.import_module(module.name))
        found.update({name: value for name, value in namespace.items() if isinstance(value, type) and issubclass(value, _RECORDS)})
    nested = {kind for owner in found.values() for kind in _field_types(owner) if kind.__name__.startswith(f"{owner.__name__}_")}
    return {name: value for name, value in found.items() if value not in nested and value not in _RECORDS}


def _field_types(owner: Any) -> Iterator[type]:
    return (field[1] for field in getattr(owner, "_fields_", ()))


def _compare(name: str, layout: Mapping[str, Any], kind: Any) -> Iterator[Mismatch]:
    if kind is None:
        yield Mismatch(record=name, item="size", expected=layout["size"], actual=None)
        return
    actual: dict[str, int | None] = {"size": ctypes.sizeof(kind), "alignment": ctypes.alignment(kind)}
    expected: dict[str, int | None] = {"size": layout["size"], "alignment": layout["align"]}
    for member, offset in layout["fields"].items():
        at, size = _locate(kind, member)
        actual |= {f"offset of {member}": at, f"size of {member}": size}
        expected |= {f"offset of {member}": offset, f"size of {member}": layout["field_sizes"][member]}
    for member in _leaves(kind):
        if member not in layout["fields"]:
            actual[f"offset of {member}"] = _locate(kind, member)[0]
    for item in {**expected, **actual}:
        if expected.get(item) != actual.get(item):
            yield Mismatch(record=name, item=item, expected=expected.get(item), actual=actual.get(item))


def _leaves(kind: Any) -> Iterator[str]:
    """The C names of a record's own members, those of an unnamed union or struct included."""
    unnamed = getattr(kind, "_anonymous_", ())
    for name, of, *_ in kind._fields_:
        if name in unnamed:
            yield from _leaves(of)
        else:
            yield name.removesuffix("_")


def _locate(kind: Any, member: str) -> tuple[int | None, int | None]:
    """Offset and size of a member, which may be inside a nested record (`adamw.alpha`)."""
    offset = 0
    size: int | None = None
    for part in member.split("."):
        # A C name that is a Python keyword has a trailing underscore here.
        descriptor = getattr(kind, part, None) or getattr(kind, f"{part}_", None)
        if descriptor is None:
            return None, None
        offset += descriptor.offset
        size = descriptor.size
        kind = {field[0]: field[1] for field in kind._fields_}.get(part)
    return offset, size
