"""The rules of a grammar while it is made: names that are never given twice, and the rules that automata become."""

from __future__ import annotations

import re
from collections.abc import Callable

from llama_cpp._features.grammar.tree import Node, Reference

from . import automaton
from .codepoints import Ranges
from .members import Members

MAX_NAME = 48
_OTHER = re.compile(r"[^A-Za-z0-9]+")


class Rulebook:
    """Rules by name. Names of subordinate rules have two dashes, which no other name has."""

    def __init__(self, taken: set[str]) -> None:
        self.rules: dict[str, Node | Members] = {}
        self._taken = taken
        self._counts: dict[str, int] = {}
        self.current = "root"

    def name(self, *parts: str) -> str:
        """A new name from words of the schema."""
        words = [word for part in parts if (word := _OTHER.sub("-", part).strip("-"))]
        base = "-".join(words)[-MAX_NAME:].strip("-") or "rule"
        if base[0].isdigit():
            base = f"rule-{base}"
        name = base
        while name in self._taken:
            self._counts[base] = self._counts.get(base, 1) + 1
            name = f"{base}-{self._counts[base]}"
        self._taken.add(name)
        return name

    def below(self, kind: str) -> str:
        """A new name of a rule that belongs to the one in the making."""
        base = f"{self.current}--{kind}"
        self._counts[base] = self._counts.get(base, 0) + 1
        return f"{base}{self._counts[base]}"

    def put(self, name: str, node: Node | Members) -> None:
        """Add a rule."""
        self.rules[name] = node

    def shared(self, kind: str, node: Node | Members) -> Reference:
        """A rule of its own for something that is used more than once."""
        name = self.below(kind)
        self.put(name, node)
        return Reference(name)

    def automaton(self, machine: automaton.Automaton, character: Callable[[Ranges], Node], *, loops: automaton.Loops | None = None) -> Node:
        """An automaton as a node, its states as rules below the one in the making."""
        return automaton.write(machine, character, lambda: self.below("s"), self.put, loops=loops)
