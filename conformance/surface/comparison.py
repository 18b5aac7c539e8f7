"""Comparing a signature with what the manifest says of it. Knows nothing of the package under test."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

Rows = Mapping[str, Mapping[str, str]]
"""Parameters in their published order, each with the default of either lineage that has it."""

REQUIRED, ANY = "required", "any"
LINEAGES = ("jp", "ab")
"""The first one wins where they contradict each other."""


def due(row: Mapping[str, str]) -> str:
    """The default to serve."""
    return next(row[lineage] for lineage in LINEAGES if lineage in row)


def contradicts(row: Mapping[str, str]) -> bool:
    """Whether the lineages have different defaults."""
    return len({row[lineage] for lineage in LINEAGES if lineage in row}) > 1


def value_of(default: str, constants: object) -> Any:
    """The value that a default in the manifest stands for."""
    try:
        return ast.literal_eval(default)
    except (SyntaxError, ValueError):
        return getattr(constants, default)


def same(one: object, other: object) -> bool:
    """Equal, a list like a tuple of the same; 1 is not True."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return list(one) == list(other)
    return one == other and isinstance(one, bool) == isinstance(other, bool) and (one is None) == (other is None)


def problems(parameters: Mapping[str, inspect.Parameter], rows: Rows, departures: Mapping[str, str], constants: object) -> list[str]:
    """What a signature lacks. `departures` are defaults that differ on purpose."""
    found = []
    for name, row in rows.items():
        parameter = parameters.get(name)
        if parameter is None:
            found.append(f"{name}: is not accepted")
            continue
        wanted = departures.get(name, due(row))
        if wanted == ANY:
            continue
        if wanted == REQUIRED:
            if parameter.default is not parameter.empty:
                found.append(f"{name}: has the default {parameter.default!r}, but is required")
        elif parameter.default is parameter.empty:
            found.append(f"{name}: has no default; {wanted} is due")
        elif not same(parameter.default, value_of(wanted, constants)):
            found.append(f"{name}: has the default {parameter.default!r}; {wanted} is due")
    return found + misplaced(parameters, [name for name in rows if "jp" in rows[name]])


def misplaced(parameters: Mapping[str, inspect.Parameter], order: Sequence[str]) -> list[str]:
    """Positional parameters that a caller who counts would not find at their place."""
    positional = [name for name, each in parameters.items() if each.kind is not each.KEYWORD_ONLY]
    published = [name for name in order if name in positional]
    ours = [name for name in positional if name in published]
    return [] if ours == published else [f"the order is {ours}; {published} is due"]
