"""Lays out generated Python so that ruff's formatter has nothing to change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

LINE_LENGTH = 140
INDENT = "    "


def group(head: str, items: Sequence[str]) -> str:
    """`head` ends in a bracket; the items and the closing one on a line, or if that is too long, one item per line."""
    return "\n".join(call(head, items, "", spare=len(INDENT) + 1))


def call(head: str, items: Sequence[str], tail: str, *, indent: str = "", spare: int = 0) -> list[str]:
    """`head`, items, closing bracket and tail on one line if it fits; else one item per line, each with a comma that keeps it so.

    `spare` is what else the line must have room for. An item may itself have several lines.
    """
    closing = {"(": ")", "[": "]"}[head[-1]]
    line = f"{indent}{head}{', '.join(items)}{closing}{tail}"
    if not items or ("\n" not in line and len(line) + spare <= LINE_LENGTH):
        return [line]
    inner = [f"{indent}{INDENT}{line}" for item in items for line in f"{item},".split("\n")]
    return [f"{indent}{head}", *inner, f"{indent}{closing}{tail}"]


def from_import(module: str, names: Iterable[str], *, indent: str = "") -> list[str]:
    """`from module import names`, sorted as ruff sorts them."""
    ordered = sorted(set(names), key=_import_order)
    line = f"{indent}from {module} import {', '.join(ordered)}"
    if len(line) <= LINE_LENGTH:
        return [line]
    return call(f"from {module} import (", ordered, "", indent=indent)


def _import_order(name: str) -> tuple[int, list[tuple[int, int, str]]]:
    """Constants, then classes, then the rest; numbers inside names compare as numbers."""
    bare = name.partition(" as ")[0]
    kind = 0 if bare.isupper() and len(bare) > 1 else 1 if bare[:1].isupper() else 2
    return kind, natural(bare)


def natural(name: str) -> list[tuple[int, int, str]]:
    """A sort key by which `c_int8` comes before `c_int32`."""
    parts: list[tuple[int, int, str]] = []
    digits = ""
    for character in name + "\0":
        if character.isdigit():
            digits += character
            continue
        if digits:
            parts.append((1, int(digits), ""))
            digits = ""
        parts.append((2 if character != "\0" else 0, 0, character))
    return parts
