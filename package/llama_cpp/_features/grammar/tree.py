"""A grammar as a tree of typed nodes: what GBNF text is parsed to, and what a JSON Schema is compiled to.

Nodes are immutable and compare by value. Reading text into them, printing them and simplifying them is done elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Literal:
    """This text, character for character; the empty text matches always."""

    text: str


@dataclass(frozen=True, slots=True)
class Characters:
    """One character of these inclusive ranges of code points, or of none of them. Any character: negated, no ranges."""

    ranges: tuple[tuple[int, int], ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    """One token of the vocabulary, by id or by its text, whatever characters it has; or any other one."""

    token: int | str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Reference:
    """What the rule of this name matches."""

    rule: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several; of none, nothing matches."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repetition:
    """`minimum` to `maximum` times, without an end for None."""

    item: Node
    minimum: int = 0
    maximum: int | None = None


Node: TypeAlias = Literal | Characters | Token | Reference | Sequence | Choice | Repetition

ANY_CHARACTER = Characters((), negated=True)
NOTHING = Literal("")


@dataclass(frozen=True, slots=True)
class Grammar:
    """Rules by name, in the order in which they are written, and the one that a text begins with."""

    rules: Mapping[str, Node]
    root: str = "root"
