"""Texts that a grammar allows, drawn at random: short where there is a choice once they have become long."""

from __future__ import annotations

import math
import random

from llama_cpp._features.grammar.tree import Characters, Choice, Grammar, Literal, Node, Reference, Repetition, Sequence

ALPHABET = "abzAZ09 _-.:/<>{}[]\"'\\\n\téß漢"


class Sampler:
    """Draws texts of one grammar. `depth` is how many rules deep a text may grow before it takes the shortest way out."""

    def __init__(self, grammar: Grammar, *, depth: int = 40) -> None:
        self._rules = grammar.rules
        self._root = grammar.root
        self._random = random.Random()  # noqa: S311 - test data
        self._depth = depth
        self._cost = dict.fromkeys(self._rules, math.inf)
        for _ in range(len(self._rules) + 1):
            changed = {name: self._of(node) for name, node in self._rules.items()}
            if changed == self._cost:
                break
            self._cost = changed

    def text(self, seed: int) -> str:
        self._random.seed(seed)
        return self._draw(Reference(self._root), 0)

    def _of(self, node: Node) -> float:
        match node:
            case Reference(rule):
                return self._cost[rule] + 1
            case Sequence(items):
                return sum(map(self._of, items))
            case Choice(options):
                return min(map(self._of, options), default=math.inf)
            case Repetition(item, minimum, _):
                return minimum * self._of(item) if minimum else 0
            case Literal(text):
                return len(text)
        return 1

    def _draw(self, node: Node, depth: int) -> str:
        match node:
            case Literal(text):
                return text
            case Reference(rule):
                return self._draw(self._rules[rule], depth + 1)
            case Sequence(items):
                return "".join(self._draw(item, depth) for item in items)
            case Choice(options):
                possible = [option for option in options if self._of(option) < math.inf]
                return self._draw(min(possible, key=self._of) if depth > self._depth else self._random.choice(possible), depth)
            case Repetition(item, minimum, maximum):
                most = minimum if depth > self._depth else min(minimum + 3, math.inf if maximum is None else maximum)
                return "".join(self._draw(item, depth + 1) for _ in range(self._random.randint(minimum, int(most))))
            case Characters(ranges, negated):
                return self._character(ranges, negated=negated)
        raise AssertionError(node)

    def _character(self, ranges: tuple[tuple[int, int], ...], *, negated: bool) -> str:
        if negated:
            return self._random.choice([each for each in ALPHABET if not any(low <= ord(each) <= high for low, high in ranges)])
        inside = [each for each in ALPHABET if any(low <= ord(each) <= high for low, high in ranges)]
        low, high = self._random.choice(ranges)
        return self._random.choice(inside) if inside and self._random.random() < 0.8 else chr(self._random.randint(low, high))
