"""Reading calls whose arguments are elements, each between marks of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .description import TOOL_NAME, TaggedCalls
from .incoming import Markers
from .json_reading import as_json, read_value
from .values import allowed_types, element_json, json_of

if TYPE_CHECKING:
    from .deltas import MessageWriter
    from .incoming import IncomingText, Reading

_NAME = re.compile(TOOL_NAME)
_TEXT = re.compile(r'"\s+(?:string="true|type="string)\b')
_NO_TEXT = re.compile(r'"\s+string="false\b')
_VERBATIM = ("<![CDATA[", "]]>")
_LONGEST_HEADER = 256


def read_tagged(body: TaggedCalls, text: IncomingText, writer: MessageWriter, tools: Mapping[str, Mapping[str, Any]]) -> Reading[bool]:
    """Read one call; False, with text read, where there is none."""
    if not (yield from text.skip(body.lead)):
        return False
    name = yield from _name(body, text)
    if not _NAME.fullmatch(name):
        return False
    writer.begin_call(name)
    writer.arguments("{")
    schema = tools.get(name, {})
    count = 0
    while True:
        yield from text.skip_characters()
        if (yield from text.next_of((body.parameter, body.end))) != body.parameter:
            break
        text.at += len(body.parameter)
        key, end = yield from text.before(Markers((body.key_end,)), _LONGEST_HEADER)
        if end is None:
            return True
        name = key.split('"', 1)[0]
        writer.arguments(f"{', ' if count else ''}{as_json(name)}: ")
        count += 1
        if not (yield from _Value(body, text, writer, name, _types(key, schema)).read()):
            return True
    if text.exhausted and not body.name_stops:
        return True
    if (yield from text.skip(body.end)) or not text.exhausted or not body.end:
        writer.arguments("}")
    return True


def _name(body: TaggedCalls, text: IncomingText) -> Reading[str]:
    """The name, read with what ends it; empty where nothing does."""
    ends = Markers((body.name_end, *body.name_stops))
    name, found = yield from text.before(ends, _LONGEST_HEADER)
    if found is None:
        return ""
    if found != body.name_end:
        text.at -= len(found)
    return name.strip().split('"', 1)[0]


def _types(key: str, schema: Mapping[str, Any]) -> frozenset[str]:
    if _TEXT.search(key):
        return frozenset({"string"})
    properties = schema.get("properties")
    types = allowed_types(properties.get(key.split('"', 1)[0]) if isinstance(properties, Mapping) else None, schema)
    return types - {"string"} or types if _NO_TEXT.search(key) else types


class _Value:
    """Reads one value: text as it arrives, anything else when it is complete."""

    def __init__(self, body: TaggedCalls, text: IncomingText, writer: MessageWriter, key: str, types: frozenset[str]) -> None:
        self._body = body
        self._end = body.value_end.replace("{key}", key)
        self._text = text
        self._writer = writer
        self._types = types

    def read(self) -> Reading[bool]:
        """Whether the value's end was found."""
        body, text = self._body, self._text
        if body.value:
            yield from text.skip_characters()
            yield from text.skip(body.value)
        verbatim = yield from text.next_of((_VERBATIM[0],))
        opening, closing = _VERBATIM if verbatim else (body.padding, self._end)
        yield from text.skip(opening)
        ends = Markers((closing, "" if verbatim else body.padding + closing))
        found = yield from (self._as_text(ends) if self._types == {"string"} else self._as_json(closing, ends))
        if verbatim and found:
            yield from text.skip_characters()
            yield from text.skip(self._end)
        text.forget()
        return found

    def _as_text(self, ends: Markers) -> Reading[bool]:
        self._writer.arguments('"')
        found = yield from self._text.passing(ends, lambda piece: self._writer.arguments(as_json(piece)[1:-1]))
        self._writer.arguments('"' if found else "")
        return found is not None

    def _as_json(self, closing: str, ends: Markers) -> Reading[bool]:
        text, start = self._text, self._text.at
        if "string" not in self._types:  # what closes a value may stand in a string of JSON
            pieces: list[str] = []
            if (yield from read_value(text, pieces.append)):
                yield from text.skip_characters()
                if (yield from text.skip(closing)):
                    self._writer.arguments("".join(pieces))
                    return True
            text.at = start
        raw, found = yield from text.before(ends)
        mark = self._body.nested
        made = element_json(raw, mark) if mark and mark in raw else json_of(raw, self._types)
        self._writer.arguments(made if found else raw)
        return found is not None
