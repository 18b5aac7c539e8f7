"""Reading one JSON value from text that is still arriving, and calls that are JSON objects."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .incoming import IncomingText, Reading

_STRING_PART = re.compile(r'[^"\\]+')
_STRUCTURE_PART = re.compile(r"[\s\w.+\-:,]+")
_SCALAR_PART = re.compile(r"[\w.+\-]+")
_OPEN, _CLOSE = frozenset("{["), frozenset("}]")


def read_value(text: IncomingText, emit: Callable[[str], None]) -> Reading[bool]:
    """Read one JSON value, character for character, into `emit`; False if it is cut off or no JSON goes on like that."""
    first = yield from text.peek()
    if first == '"':
        return (yield from _read_string(text, emit))
    if first not in _OPEN:
        return (yield from _read_scalar(text, emit))
    depth = 0
    while True:
        character = yield from text.peek()
        if character == '"':
            if not (yield from _read_string(text, emit)):
                return False
        elif character in _OPEN or character in _CLOSE:
            depth += 1 if character in _OPEN else -1
            text.at += 1
            emit(character)
            if not depth:
                return True
        elif not _emit_match(_STRUCTURE_PART, text, emit):
            return False


def _read_string(text: IncomingText, emit: Callable[[str], None]) -> Reading[bool]:
    text.at += 1
    emit('"')
    while True:
        character = yield from text.peek()
        if not character:
            return False
        if character == '"':
            text.at += 1
            emit(character)
            return True
        if character == "\\":
            while len(text.text) < text.at + 2 and not text.ended:
                yield
            emit(text.text[text.at : text.at + 2])
            text.at = min(text.at + 2, len(text.text))
        else:
            _emit_match(_STRING_PART, text, emit)


def _read_scalar(text: IncomingText, emit: Callable[[str], None]) -> Reading[bool]:
    size = 0
    while _emit_match(_SCALAR_PART, text, emit):
        size += 1
        yield from text.peek()
    return size > 0


def _emit_match(pattern: re.Pattern[str], text: IncomingText, emit: Callable[[str], None]) -> bool:
    found = pattern.match(text.text, text.at)
    if found is None:
        return False
    text.at = found.end()
    emit(found[0])
    return True


def read_text(text: IncomingText) -> Reading[str | None]:
    """Read one JSON string; its value, or None where none stands."""
    if (yield from text.peek()) != '"':
        return None
    raw: list[str] = []
    if not (yield from read_value(text, raw.append)):
        return None
    value = parsed("".join(raw))
    return value if isinstance(value, str) else None


def parsed(raw: str) -> Any:
    """The value of JSON text, with line feeds allowed in strings; None for text that is no JSON."""
    try:
        return json.loads(raw, strict=False)
    except ValueError:
        return None


def as_json(value: object) -> str:
    """JSON text with all characters as they are."""
    return json.dumps(value, ensure_ascii=False)
