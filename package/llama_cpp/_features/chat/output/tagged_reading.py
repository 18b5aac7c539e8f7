"""Reading calls whose arguments are elements, each between marks of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .description import TOOL_NAME, TaggedCalls
from .incoming import Markers
from .json_reading import as_json
from .values import allowed_types, json_of

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
        if not body.parameter or not (yield from text.skip(body.parameter)):
            break
        key, end = yield from text.before(Markers((body.key_end,)), _LONGEST_HEADER)
        if end is None:
            return True
        writer.arguments(f"{', ' if count else ''}{as_json(key.split(chr(34), 1)[0])}: ")
        count += 1
        if not (yield from _Value(body, text, writer, _types(key, schema)).read()):
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

    def __init__(self, body: TaggedCalls, text: IncomingText, writer: MessageWriter, types: frozenset[str]) -> None:
        self._body = body
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
        opening, closing = _VERBATIM if verbatim else (body.padding, body.value_end)
        yield from text.skip(opening)
        ends = Markers((closing, "" if verbatim else body.padding + closing))
        found = yield from (self._as_text(ends) if self._types == {"string"} else self._as_json(ends))
        if verbatim and found:
            yield from text.skip_characters()
            yield from text.skip(body.value_end)
        text.forget()
        return found

    def _as_text(self, ends: Markers) -> Reading[bool]:
        self._writer.arguments('"')
        found = yield from self._text.passing(ends, lambda piece: self._writer.arguments(as_json(piece)[1:-1]))
        self._writer.arguments('"' if found else "")
        return found is not None

    def _as_json(self, ends: Markers) -> Reading[bool]:
        raw, found = yield from self._text.before(ends)
        self._writer.arguments(json_of(raw, self._types) if found else raw)
        return found is not None
