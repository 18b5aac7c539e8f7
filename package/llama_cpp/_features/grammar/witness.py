"""Follows a grammar that names tokens, in step with llama.cpp, and tells which tokens that would not survive.

llama.cpp asks whether a token named by the grammar comes next also in the middle of a token's text: it lets one pass whose first
characters are taken as text and which is the named one, and fails when it is told that the token was chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_cpp._engine.grammar import incomplete

from .tree import Characters, Choice, Literal, Reference, Repetition, Sequence, Token

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .tree import Grammar, Node

END = 0
"""The place behind everything."""


class TreeWitness:
    """A set of places in a grammar's tree, each with what comes after it. `ids` are those of the tokens that are named by text."""

    def __init__(self, grammar: Grammar, ids: Mapping[str, int]) -> None:
        self._rules = grammar.rules
        self._ids = ids
        self._places: list[tuple[Node, int, int]] = [(Literal(""), 0, END)]  # a node, how far in it, and the place after it
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._begin = self._spread([self._place(grammar.rules[grammar.root], 0, END)])
        self._at = self._begin
        self._character = b""

    def takes(self, token: int, piece: bytes) -> bool:
        """Whether a place is left behind the token."""
        return bool(self._after(token, piece))

    def accept(self, token: int, piece: bytes) -> None:
        """Go there."""
        self._at = self._after(token, piece)
        self._character = incomplete(self._character + piece)

    def reset(self) -> None:
        """Back to the start."""
        self._at, self._character = self._begin, b""

    def clone(self) -> TreeWitness:
        """An independent copy, which shares the table of places."""
        copy = TreeWitness.__new__(TreeWitness)
        copy.__dict__.update(self.__dict__)
        return copy

    def _after(self, token: int, piece: bytes) -> frozenset[int]:
        passed = [after for node, _, after in map(self._places.__getitem__, self._at) if self._is(node, token)]
        return self._spread(passed) | self._after_text(self._character + piece)

    def _is(self, node: Node, token: int) -> bool:
        if not isinstance(node, Token):
            return False
        named = self._ids[node.token] if isinstance(node.token, str) else node.token
        return (named == token) != node.negated

    def _after_text(self, data: bytes) -> frozenset[int]:
        """The places behind the complete characters of the bytes, where a first place takes text at all."""
        at = frozenset(place for place in self._at if place != END and not isinstance(self._places[place][0], Token))
        try:
            text = data[: len(data) - len(incomplete(data))].decode()
        except UnicodeDecodeError:
            return frozenset()
        for character in text:
            at = self._spread(self._passed(at, character))
        return at

    def _passed(self, at: Iterable[int], character: str) -> Iterable[int]:
        code = ord(character)
        for place in at:
            node, done, after = self._places[place]
            if isinstance(node, Literal):
                if place != END and node.text[done] == character:
                    yield self._place(node, done + 1, after)
            elif isinstance(node, Characters) and any(low <= code <= high for low, high in node.ranges) != node.negated:
                yield after

    def _place(self, node: Node, done: int, after: int) -> int:
        key = (id(node), done, after)
        known = self._numbers.get(key)
        if known is None:
            known = self._numbers[key] = len(self._places)
            self._places.append((node, done, after))
        return known

    def _spread(self, places: Iterable[int]) -> frozenset[int]:
        """The same as places of characters and tokens, and the end."""
        todo, seen, found = list(places), set[int](), set[int]()
        while todo:
            place = todo.pop()
            if place in seen:
                continue
            seen.add(place)
            node, done, after = self._places[place]
            if place == END or isinstance(node, Characters | Token) or (isinstance(node, Literal) and done < len(node.text)):
                found.add(place)
            else:
                todo.extend(self._inner(node, done, after))
        return frozenset(found)

    def _inner(self, node: Node, done: int, after: int) -> Iterable[int]:
        """Where a place of anything else leads to at once."""
        if isinstance(node, Reference):
            yield self._place(self._rules[node.rule], 0, after)
        elif isinstance(node, Choice):
            for option in node.options:
                yield self._place(option, 0, after)
        elif isinstance(node, Sequence) and done < len(node.items):
            rest = after if done + 1 == len(node.items) else self._place(node, done + 1, after)
            yield self._place(node.items[done], 0, rest)
        elif isinstance(node, Repetition):
            if done >= node.minimum:
                yield after
            if node.maximum is None or done < node.maximum:
                counted = done + 1 if node.maximum is not None or done < node.minimum else done
                yield self._place(node.item, 0, self._place(node, counted, after))
        else:
            yield after
