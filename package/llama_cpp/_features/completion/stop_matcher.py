"""Finding stop strings in a text that arrives in parts, one character at a time and in constant time each.

Owns the search only; what is held back and what is shown is decided in `text_assembly`.
"""

from __future__ import annotations

import re
from collections import deque
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class StopMatcher:
    """An Aho-Corasick automaton over the characters of the stop strings. Immutable, so requests may share it.

    A state stands for the longest end of the text that begins a stop string: `depth[state]` is its length, and
    `longest[state]` the length of the longest complete stop string that ends there (0 if none does). State 0 is
    "nothing begun".
    """

    __slots__ = ("_children", "_fail", "depth", "first", "longest")

    def __init__(self, stops: Sequence[str]) -> None:
        self._children: list[dict[str, int]] = [{}]
        self._fail: list[int] = [0]
        self.depth: list[int] = [0]
        self.longest: list[int] = [0]
        for stop in stops:
            self._insert(stop)
        self._link()
        self.first = re.compile("[" + "".join(re.escape(char) for char in self._children[0]) + "]")

    def _insert(self, stop: str) -> None:
        state = 0
        for char in stop:
            following = self._children[state].get(char)
            if following is None:
                following = len(self._children)
                self._children[state][char] = following
                self._children.append({})
                self._fail.append(0)
                self.depth.append(self.depth[state] + 1)
                self.longest.append(0)
            state = following
        self.longest[state] = len(stop)

    def _link(self) -> None:
        waiting = deque(self._children[0].values())
        while waiting:
            state = waiting.popleft()
            for char, following in self._children[state].items():
                self._fail[following] = self.step(self._fail[state], char)
                self.longest[following] = self.longest[following] or self.longest[self._fail[following]]
                waiting.append(following)

    def step(self, state: int, char: str) -> int:
        """The state after one more character."""
        children = self._children
        while state and char not in children[state]:
            state = self._fail[state]
        return children[state].get(char, 0)


@lru_cache(maxsize=64)
def matcher_for(stops: tuple[str, ...]) -> StopMatcher | None:
    """The automaton for these stop strings; None when none of them has any text."""
    wanted = tuple(stop for stop in stops if stop)
    return StopMatcher(wanted) if wanted else None
