"""A regular expression as a tree. Anchors are nodes of their own until `anchoring` has taken them out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from llama_cpp._features.grammar.schema.codepoints import Ranges


@dataclass(frozen=True, slots=True)
class Class:
    """One character of a set."""

    characters: Ranges


@dataclass(frozen=True, slots=True)
class Concatenation:
    """One after the other; of none, the empty text."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Alternation:
    """One of several; of none, nothing."""

    options: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`minimum` to `maximum` times, without an end for None."""

    item: Expression
    minimum: int
    maximum: int | None


@dataclass(frozen=True, slots=True)
class Anchor:
    """The begin (`^`) or end (`$`) of the text."""

    end: bool


Expression: TypeAlias = Class | Concatenation | Alternation | Repeat | Anchor

EMPTY = Concatenation(())


def nullable(node: Expression) -> bool:
    """Whether the empty text matches."""
    if isinstance(node, Concatenation):
        return all(nullable(item) for item in node.items)
    if isinstance(node, Alternation):
        return any(nullable(option) for option in node.options)
    if isinstance(node, Repeat):
        return node.minimum == 0 or nullable(node.item)
    return isinstance(node, Anchor)


def lengths(node: Expression) -> tuple[int, int | None] | None:  # noqa: PLR0911 - one for each kind of node
    """The shortest and the longest match in characters (None: without end); None when nothing matches."""
    if isinstance(node, Class):
        return (1, 1) if node.characters else None
    if isinstance(node, Concatenation):
        parts = [lengths(item) for item in node.items]
        found = [part for part in parts if part is not None]
        if len(found) < len(parts):
            return None
        return sum(low for low, _ in found), None if any(high is None for _, high in found) else sum(high or 0 for _, high in found)
    if isinstance(node, Alternation):
        found = [part for option in node.options if (part := lengths(option)) is not None]
        if not found:
            return None
        return min(low for low, _ in found), None if any(high is None for _, high in found) else max(high or 0 for _, high in found)
    if isinstance(node, Repeat):
        part = lengths(node.item)
        if part is None:
            return (0, 0) if node.minimum == 0 else None
        endless = part[1] != 0 and (node.maximum is None or part[1] is None) and node.maximum != 0
        return part[0] * node.minimum, None if endless else (part[1] or 0) * (node.maximum or 0)
    return 0, 0
