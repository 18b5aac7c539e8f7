"""A second opinion on grammars: whether a text follows one, and random texts that do. Works on the tree, slowly and plainly."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from functools import lru_cache

from llama_cpp._features.grammar.gbnf import parse_gbnf
from llama_cpp._features.grammar.tree import Characters, Choice, Grammar, Literal, Node, Reference, Repetition, Sequence

_PRINTABLE = [*range(0x20, 0x7F), 0xE4, 0x3B1, 0x4E2D, 0x1F600]


@lru_cache(maxsize=64)
def tree_of(text: str) -> Grammar:
    return parse_gbnf(text).tree


def matches(grammar: Grammar | str, text: str) -> bool:
    """Whether the whole text follows the grammar."""
    tree = tree_of(grammar) if isinstance(grammar, str) else grammar
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        return len(text) in _Matcher(tree, text).ends(tree.rules[tree.root], 0)
    finally:
        sys.setrecursionlimit(limit)


class _Matcher:
    """Where the matches of a node that begin at a place can end."""

    def __init__(self, grammar: Grammar, text: str) -> None:
        self._rules = grammar.rules
        self._text = text
        self._known: dict[tuple[int, int], frozenset[int]] = {}

    def ends(self, node: Node, at: int) -> frozenset[int]:
        known = self._known.get((id(node), at))
        if known is None:
            known = self._known[id(node), at] = frozenset(self._ends(node, at))
        return known

    def _ends(self, node: Node, at: int) -> Iterator[int]:
        if isinstance(node, Literal):
            if self._text.startswith(node.text, at):
                yield at + len(node.text)
        elif isinstance(node, Characters):
            if at < len(self._text) and any(low <= ord(self._text[at]) <= high for low, high in node.ranges) != node.negated:
                yield at + 1
        elif isinstance(node, Reference):
            yield from self.ends(self._rules[node.rule], at)
        elif isinstance(node, Choice):
            for option in node.options:
                yield from self.ends(option, at)
        elif isinstance(node, Sequence):
            places = {at}
            for item in node.items:
                places = {end for place in places for end in self.ends(item, place)}
            yield from places
        elif isinstance(node, Repetition):
            yield from self._repeated(node, at)
        else:
            raise TypeError(f"{node} has no text")

    def _repeated(self, node: Repetition, at: int) -> Iterator[int]:
        places, seen, count = {at}, set(), 0
        while places:
            if count >= node.minimum:
                yield from places
                places -= seen
                seen |= places
            if count == node.maximum:
                return
            places = {end for place in places for end in self.ends(node.item, place)}
            count += 1


class Sampler:
    """Random texts of a grammar. Beyond `patience` choices the quickest way out is taken."""

    def __init__(self, grammar: Grammar | str, rng: random.Random, patience: int = 60) -> None:
        self._tree = tree_of(grammar) if isinstance(grammar, str) else grammar
        self._rng = rng
        self._patience = patience
        self._costs: dict[str, float] = dict.fromkeys(self._tree.rules, float("inf"))
        changed = True
        while changed:
            changed = False
            for name, node in self._tree.rules.items():
                cost = 1 + self._cost(node)
                if cost < self._costs[name]:
                    self._costs[name], changed = cost, True

    def text(self) -> str:
        self._left = self._patience
        parts: list[str] = []
        todo: list[Node] = [self._tree.rules[self._tree.root]]
        while todo:
            node = todo.pop()
            if isinstance(node, Literal):
                parts.append(node.text)
            elif isinstance(node, Characters):
                parts.append(self._character(node))
            elif isinstance(node, Reference):
                todo.append(self._tree.rules[node.rule])
            elif isinstance(node, Choice):
                todo.append(self._option(node))
            elif isinstance(node, Sequence):
                todo.extend(reversed(node.items))
            elif isinstance(node, Repetition):
                todo.extend([node.item] * self._count(node))
        return "".join(parts)

    def _cost(self, node: Node) -> float:
        if isinstance(node, Reference):
            return self._costs[node.rule]
        if isinstance(node, Choice):
            return min(map(self._cost, node.options), default=float("inf"))
        if isinstance(node, Sequence):
            return sum(map(self._cost, node.items))
        return self._cost(node.item) * node.minimum if isinstance(node, Repetition) and node.minimum else 0

    def _option(self, node: Choice) -> Node:
        self._left -= 1
        if self._left < 0:
            return min(node.options, key=self._cost)
        return self._rng.choice(node.options)

    def _count(self, node: Repetition) -> int:
        self._left -= 1
        if self._left < 0 or node.maximum == node.minimum:
            return node.minimum
        most = node.minimum + 4 if node.maximum is None else node.maximum
        return (
            self._rng.choice([node.minimum, most, self._rng.randint(node.minimum, most)])
            if most - node.minimum < 40
            else self._rng.randint(node.minimum, node.minimum + 6)
        )

    def _character(self, node: Characters) -> str:
        if node.negated:
            return chr(self._rng.choice([p for p in _PRINTABLE if not any(low <= p <= high for low, high in node.ranges)]))
        low, high = self._rng.choice(node.ranges)
        liked = [point for point in _PRINTABLE if low <= point <= high]
        if liked and self._rng.random() < 0.7:
            return chr(self._rng.choice(liked))
        point = self._rng.choice([low, high, self._rng.randint(low, high)])
        return chr(point) if not 0xD800 <= point <= 0xDFFF else chr(low)
