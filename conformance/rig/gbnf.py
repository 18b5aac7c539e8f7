"""A second opinion on GBNF: what a grammar's text means, read and matched here in the plainest way, slowly.

It serves grammars without left recursion, short texts, and no tokens named in the grammar.
"""

from __future__ import annotations

import re
from typing import Any

Node = tuple[Any, ...]
_SIMPLE = {"t": "\t", "r": "\r", "n": "\n"}


class Recognizer:
    """Reads the text of a grammar, and tells of other texts whether they follow it."""

    def __init__(self, grammar: str, root: str = "root") -> None:
        self._text, self._at = grammar, 0
        self._rules: dict[str, Node] = {}
        self._root = root
        self._blank(wide=True)
        while self._at < len(grammar):
            name = self._take(r"[A-Za-z0-9-]+")
            self._blank(wide=False)
            self._take("::=")
            self._blank(wide=True)
            self._rules[name] = self._choice(wide=False)
            self._blank(wide=True)

    def accepts(self, text: str) -> bool:
        """Whether the whole text follows the grammar."""
        self._input, self._known = text, dict[tuple[str, int], frozenset[int]]()
        return len(text) in self._ends(self._rules[self._root], 0)

    # ---- matching: all places where a match that begins at one place may end ------------------------------------

    def _ends(self, node: Node, at: int) -> frozenset[int]:
        kind, *rest = node
        if kind == "text":
            return frozenset({at + len(rest[0])}) if self._input.startswith(rest[0], at) else frozenset()
        if kind == "one":
            ranges, negated = rest
            fits = at < len(self._input) and any(low <= self._input[at] <= high for low, high in ranges) != negated
            return frozenset({at + 1}) if fits else frozenset()
        if kind == "rule":
            key = (rest[0], at)
            if key not in self._known:
                self._known[key] = self._ends(self._rules[rest[0]], at)
            return self._known[key]
        if kind == "choice":
            return frozenset[int]().union(*(self._ends(option, at) for option in rest[0]))
        if kind == "sequence":
            places = frozenset({at})
            for item in rest[0]:
                places = self._step(item, places)
            return places
        return self._repeated(*rest, at)

    def _step(self, node: Node, places: frozenset[int]) -> frozenset[int]:
        return frozenset[int]().union(*(self._ends(node, place) for place in places))

    def _repeated(self, item: Node, least: int, most: int | None, at: int) -> frozenset[int]:
        places = frozenset({at})
        for _ in range(least):
            places = self._step(item, places)
        found, fresh, left = places, places, most
        while fresh and (left is None or left > least):
            fresh = self._step(item, fresh) - (found if most is None else frozenset())
            found |= fresh
            left = None if left is None else left - 1
        return found

    # ---- reading --------------------------------------------------------------------------------------------------

    def _take(self, pattern: str) -> str:
        found = re.compile(pattern, re.DOTALL).match(self._text, self._at)
        assert found, f"{pattern} does not match {self._text[self._at : self._at + 20]!r}"
        self._at = found.end()
        return found[0]

    def _blank(self, *, wide: bool) -> None:
        self._take(r"(?:[ \t\r\n]|#[^\r\n]*)*" if wide else r"(?:[ \t]|#[^\r\n]*)*")

    def _choice(self, *, wide: bool) -> Node:
        options = [self._sequence(wide=wide)]
        while self._text[self._at : self._at + 1] == "|":
            self._at += 1
            self._blank(wide=True)
            options.append(self._sequence(wide=wide))
        return ("choice", options)

    def _sequence(self, *, wide: bool) -> Node:
        items: list[Node] = []
        while (first := self._text[self._at : self._at + 1]) and first not in "|)\r\n":
            self._at += 1
            if first == '"':
                items.append(("text", "".join(self._characters('"'))))
            elif first == "[":
                items.append(self._class())
            elif first == "(":
                self._blank(wide=True)
                items.append(self._choice(wide=True))
                self._take(r"\)")
            elif first == ".":
                items.append(("one", [], True))
            elif first in "*+?{":
                items[-1] = ("repeated", items[-1], *self._bounds(first, wide=wide))
            else:
                items.append(("rule", first + self._take(r"[A-Za-z0-9-]*")))
            self._blank(wide=wide)
        return ("sequence", items)

    def _bounds(self, sign: str, *, wide: bool) -> tuple[int, int | None]:
        if sign != "{":
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
        self._blank(wide=wide)
        least = int(self._take("[0-9]+"))
        self._blank(wide=wide)
        if self._take(r"[,}]") == "}":
            return least, least
        self._blank(wide=wide)
        most = self._take("[0-9]*")
        self._blank(wide=wide)
        self._take("}")
        return least, int(most) if most else None

    def _characters(self, end: str) -> list[str]:
        found: list[str] = []
        while (character := self._take(r"\\(?:x..|u.{4}|U.{8}|.)|[^\\]")) != end:
            if character[0] != "\\":
                found.append(character)
            else:
                found.append(self._value(character))
        return found

    def _class(self) -> Node:
        negated = self._text[self._at] == "^"
        self._at += negated
        body = self._take(r"(?:\\(?:x..|u.{4}|U.{8}|.)|[^\]\\])*")
        self._take(r"\]")
        ranges = []
        for low, high in re.findall(r"(\\(?:x..|u.{4}|U.{8}|.)|[^\\])(?:-(\\(?:x..|u.{4}|U.{8}|.)|[^\\]))?", body, re.DOTALL):
            first = self._value(low)
            ranges.append((first, self._value(high) if high else first))
        return ("one", ranges, negated)

    def _value(self, character: str) -> str:
        if character[0] != "\\":
            return character
        _, kind, *digits = character
        return chr(int("".join(digits), 16)) if kind in "xuU" else _SIMPLE.get(kind, kind)
