"""Text that arrives piece by piece, read by generators that pause where the next characters decide.

A reading generator yields None when it needs more text. What it returns depends on the text alone, never on how the
text was split: a decision is made when no continuation could change it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Reading: TypeAlias = Generator[None, None, T]

_SPACE = re.compile(r"\s*")


class Markers:
    """Fixed texts to look for. The one that begins first counts; of several at the same place, the longest."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(sorted({text for text in texts if text}, key=len, reverse=True))
        self._found = re.compile("|".join(map(re.escape, self.texts))) if self.texts else None
        self._longest = len(self.texts[0]) if self.texts else 0
        self._firsts = frozenset(text[0] for text in self.texts)

    def search(self, text: str, start: int) -> re.Match[str] | None:
        """The first marker in `text` at or after `start`."""
        return self._found.search(text, start) if self._found is not None else None

    def begun(self, text: str, start: int) -> int:
        """Where the longest end of `text` begins that is a marker's unfinished beginning; len(text) if there is none."""
        size = len(text)
        for at in range(max(start, size - self._longest + 1), size):
            if text[at] in self._firsts:
                tail = text[at:]
                if any(len(marker) > len(tail) and marker.startswith(tail) for marker in self.texts):
                    return at
        return size


class IncomingText:
    """The text so far, and the place up to which it has been read."""

    def __init__(self) -> None:
        self.text = ""
        self.at = 0
        self.ended = False

    def add(self, text: str) -> None:
        """More text."""
        self.text += text

    def forget(self, *, but: int = 0) -> None:
        """Drop what has been read, all but the last characters: nobody will go back further."""
        self.text = self.text[self.at - but :]
        self.at = but

    @property
    def exhausted(self) -> bool:
        """Whether everything has been read and nothing more will come."""
        return self.ended and self.at >= len(self.text)

    def peek(self) -> Reading[str]:
        """The next character; empty at the end."""
        while self.at >= len(self.text) and not self.ended:
            yield
        return self.text[self.at : self.at + 1]

    def next_of(self, options: Iterable[str]) -> Reading[str | None]:
        """The longest of `options` that comes next, which stays unread; None for none of them."""
        texts = [option for option in options if option]
        while True:
            ahead = self.text[self.at :]
            if self.ended or not any(len(text) > len(ahead) and text.startswith(ahead) for text in texts):
                return max((text for text in texts if ahead.startswith(text)), key=len, default=None)
            yield

    def skip(self, literal: str) -> Reading[bool]:
        """Read `literal` if it comes next; whether it did."""
        if not literal or (yield from self.next_of((literal,))) is None:
            return not literal
        self.at += len(literal)
        return True

    def skip_characters(self, characters: re.Pattern[str] = _SPACE) -> Reading[None]:
        """Read all that `characters` (a pattern of single ones, repeated) matches: white space, by default."""
        while True:
            found = characters.match(self.text, self.at)
            self.at = found.end() if found else self.at
            if self.at < len(self.text) or self.ended:
                return
            yield

    def until(self, markers: Markers) -> Reading[tuple[str, str | None]]:
        """The next piece of text that holds no marker, and the marker after it, both read; None while it goes on."""
        while True:
            found = markers.search(self.text, self.at)
            held = len(self.text) if self.ended else markers.begun(self.text, self.at)
            if found is not None and found.start() < held:
                piece = self.text[self.at : found.start()]
                self.at = found.end()
                return piece, found[0]
            if held > self.at or self.ended:
                piece = self.text[self.at : held]
                self.at = held
                return piece, None
            yield

    def before(self, markers: Markers, limit: int | None = None) -> Reading[tuple[str, str | None]]:
        """All text up to a marker, and the marker, both read; None at the end of the text or after `limit` characters."""
        pieces: list[str] = []
        size = 0
        while True:
            piece, marker = yield from self.until(markers)
            pieces.append(piece)
            size += len(piece)
            if limit is not None and size > limit:
                return "".join(pieces), None
            if marker is not None or self.exhausted:
                return "".join(pieces), marker

    def passing(self, markers: Markers, emit: Callable[[str], None]) -> Reading[str | None]:
        """Give text to `emit` as it becomes final, up to a marker, which is returned; None at the end of the text."""
        while True:
            piece, marker = yield from self.until(markers)
            if piece:
                emit(piece)
            if marker is not None or self.exhausted:
                return marker
