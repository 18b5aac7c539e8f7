"""Reading tool calls, one generator for each way to describe them; what is no call leaves the text where it was."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .description import TOOL_NAME, Body, BracedCalls, CallForm, CodeCalls, JsonCalls, NamedCalls, PythonCalls, TaggedCalls
from .incoming import Markers
from .json_reading import as_json, parsed, read_text, read_value
from .tagged_reading import read_tagged
from .values import braced_json, python_json

if TYPE_CHECKING:
    from .deltas import MessageWriter
    from .incoming import IncomingText, Reading

LONGEST_HEADER = 256

_NAME = re.compile(TOOL_NAME)
_BETWEEN = re.compile(r"[\s,;]*")
_LIST = re.compile(r"[\s,;\[\]]*")
_LIST_END = re.compile(r"[\s\]]*")
_LEFT_OVER = re.compile(r"[\s}\])]*")
_BEFORE_NAME = frozenset({"id", "type"})
_PYTHON_KEY = re.compile(r"([A-Za-z_]\w*)\s*=(?!=)")


class CallReader:
    """Reads calls from `text` into `writer`. `tools` maps the names of the tools offered to their parameter schemas."""

    def __init__(self, text: IncomingText, writer: MessageWriter, tools: Mapping[str, Mapping[str, Any]]) -> None:
        self.text = text
        self.writer = writer
        self.tools = tools

    def section(self, form: CallForm, marker: str) -> Reading[bool]:
        """Read what `marker` (which has been read) begins; False, and only the marker read, where that is no call."""
        text, start = self.text, self.text.at
        text.at -= 0 if marker == form.opener else len(marker)
        count = 0
        while True:
            at = text.at
            yield from text.skip_characters(_BETWEEN)
            if form.closer and count and (yield from text.skip(form.closer)):
                return True
            if not (yield from self._one(form)):
                break
            text.forget()
            count += 1
        text.at = at if count else start
        if count:
            yield from self._close(form.closer)
        return count > 0

    def bare(self, form: CallForm) -> Reading[bool]:
        """Read calls that nothing announces; False, and nothing read, where there are none."""
        start = self.text.at
        yield from self.text.skip_characters()
        count = 0
        while (yield from self._one(form)):
            self.text.forget()
            count += 1
            yield from self.text.skip_characters(_LIST)
        self.text.at = self.text.at if count else start
        return count > 0

    def _close(self, closer: str) -> Reading[None]:
        """Read the end of a section, also behind brackets too many; where there is none, the end of a list."""
        if not closer:
            yield from self.text.skip_characters(_LIST_END)
            return
        start = self.text.at
        yield from self.text.skip_characters(_LEFT_OVER)
        if not (yield from self.text.skip(closer)):
            self.text.at = start

    def _one(self, form: CallForm) -> Reading[bool]:
        text, start = self.text, self.text.at
        if not (yield from text.peek()):
            return False
        if form.call_opener:
            if not (yield from text.skip(form.call_opener)):
                return False
            yield from text.skip_characters()
        for body in form.bodies:
            begin = text.at
            if (yield from self.read(body, known_only=form.bare)):
                if form.call_closer:
                    yield from text.skip_characters()
                    yield from self._close(form.call_closer)
                return True
            text.at = begin
        text.at = start
        return False

    def read(self, body: Body, *, known_only: bool) -> Reading[bool]:  # noqa: PLR0911 - one per kind
        """Read one call; False where there is none. With `known_only` only tools that are offered count."""
        match body:
            case JsonCalls(keyed=False):
                return (yield from self._json(body, known_only=known_only))
            case JsonCalls():
                return (yield from self._keyed())
            case NamedCalls():
                return (yield from self._named(body))
            case TaggedCalls():
                return (yield from read_tagged(body, self.text, self.writer, self.tools))
            case PythonCalls():
                return (yield from self._python(body, known_only=known_only))
            case BracedCalls():
                return (yield from self._braced(body))
            case CodeCalls():
                return (yield from self._code(body))

    def _begin(self, name: str | None, *, known_only: bool = False, identifier: str | None = None) -> bool:
        if not name or not _NAME.fullmatch(name) or (known_only and name not in self.tools):
            return False
        self.writer.begin_call(name, identifier)
        return True

    # JSON objects

    def _json(self, body: JsonCalls, *, known_only: bool) -> Reading[bool]:
        text = self.text
        yield from text.skip_characters(_LIST)
        if not (yield from text.skip("{")):
            return False
        began, wrote, held, depth = False, False, "", 1
        while True:
            yield from text.skip_characters(_BETWEEN)
            if not began and (yield from text.peek()) == "}":
                return False
            key = yield from self._key()
            is_object = key is not None and (yield from text.peek()) == "{"
            if key is None:
                break
            if key == "function" and is_object and not began:  # the object of a whole tool call around it
                depth += 1
                text.at += 1
            elif key in (body.name, "function") and not began:
                if not self._begin((yield from read_text(text)), known_only=known_only):
                    return False
                began = True
                self.writer.arguments(held)
            elif key in body.arguments and not (wrote or held):
                held = yield from self._arguments(known=began)
                wrote = began
            elif (known_only and not began and key not in _BEFORE_NAME) or not (yield from read_value(text, _drop)):
                break
        if began and not (wrote or held) and not text.exhausted:
            self.writer.arguments("{}")
        while began and depth and (yield from text.skip("}")):
            depth -= 1
            yield from text.skip_characters()
        return began

    def _key(self) -> Reading[str | None]:
        """Read the key of a member and the colon; None at an object's end and where text breaks off."""
        key = yield from read_text(self.text)
        if key is None:
            return None
        yield from self.text.skip_characters()
        if not (yield from self.text.skip(":")):
            return None
        yield from self.text.skip_characters()
        return key

    def _arguments(self, *, known: bool) -> Reading[str]:
        """Read arguments: written at once where the name is known, else returned.

        A string holds them as JSON text; an empty one, and null, stand for no arguments.
        """
        pieces: list[str] = []
        first = yield from self.text.peek()
        live = known and first in ("{", "[")
        yield from read_value(self.text, self.writer.arguments if live else pieces.append)
        raw = "".join(pieces)
        if first == '"':
            inner = parsed(raw)
            raw = inner if isinstance(inner, str) else raw
        if not live and first and raw.strip() in ("", "null"):
            raw = "{}"
        if known and not live:
            self.writer.arguments(raw)
        return "" if known else raw

    def _keyed(self) -> Reading[bool]:
        text = self.text
        yield from text.skip_characters(_LIST)
        if not (yield from text.skip("{")):
            return False
        yield from text.skip_characters()
        if not self._begin((yield from self._key())):
            return False
        yield from read_value(text, self.writer.arguments)
        yield from text.skip_characters()
        yield from text.skip("}")
        return True

    # A header with the name, and JSON

    def _named(self, body: NamedCalls) -> Reading[bool]:
        text = self.text
        if not (yield from text.skip(body.lead)):
            return False
        header, found = yield from text.before(Markers((body.separator,)), LONGEST_HEADER)
        match = re.fullmatch(body.header, header.strip()) if found is not None else None
        if match is None or not self._begin(match["name"], identifier=match.groupdict().get("id")):
            return False
        yield from self.json_arguments()
        for end in body.end:
            yield from text.skip_characters()
            if (yield from text.skip(end)):
                break
        return True

    def json_arguments(self) -> Reading[None]:
        """Read the arguments of a call that has begun; where none stand, it has no arguments."""
        yield from self.text.skip_characters()
        if (yield from self.text.peek()) in ("{", "["):
            yield from read_value(self.text, self.writer.arguments)
        elif not self.text.exhausted:
            self.writer.arguments("{}")

    # Python

    def _python(self, body: PythonCalls, *, known_only: bool) -> Reading[bool]:
        text = self.text
        yield from text.skip_characters(_LIST)
        name = yield from self._identifier()
        if body.suffix and name.endswith(body.suffix):
            name = name[: -len(body.suffix)]
        if not (yield from text.skip("(")) or not self._begin(name, known_only=known_only or not body.listed):
            return False
        properties = list(self.tools.get(name, {}).get("properties") or ())
        self.writer.arguments("{")
        count = 0
        while True:
            yield from text.skip_characters(_BETWEEN)
            value, end = yield from self._until_top_level(",)")
            key = _PYTHON_KEY.match(value)
            value = value[key.end() :] if key else value
            place = properties[count] if count < len(properties) else f"argument_{count + 1}"
            if value.strip() and (end or key):
                name_of = key[1] if key else place
                self.writer.arguments(f"{', ' if count else ''}{as_json(name_of)}: {python_json(value)}")
                count += 1
            if end != ",":
                break
        self.writer.arguments("}" if end else "")
        return True

    def _identifier(self) -> Reading[str]:
        text = self.text
        end = text.at
        while True:
            found = _NAME.match(text.text, text.at)
            end = found.end() if found else text.at
            if end < len(text.text) or text.ended:
                name = text.text[text.at : end]
                text.at = end
                return name
            yield

    def _until_top_level(self, ends: str, quote: str = "") -> Reading[tuple[str, str]]:
        """Read up to one of `ends` outside of brackets and strings, and that character; empty at the end of the text.

        Strings stand between two `quote`, or in Python's quotes.
        """
        text, depth, pieces = self.text, 0, list[str]()
        quotes = (quote,) if quote else ('"""', "'''", '"', "'")
        while True:
            character = yield from text.peek()
            opened = (yield from text.next_of(quotes)) if character else None
            if not character:
                return "".join(pieces), ""
            if opened is not None:
                pieces.append((yield from self._quoted(opened, escapes=not quote)))
                continue
            text.at += 1
            if not depth and character in ends:
                return "".join(pieces), character
            depth += (character in "([{") - (character in ")]}")
            pieces.append(character)

    def _quoted(self, quote: str, *, escapes: bool) -> Reading[str]:
        text, pieces = self.text, [quote]
        text.at += len(quote)
        while not (yield from text.skip(quote)):
            character = yield from text.peek()
            if not character:
                return "".join(pieces)
            text.at += 1
            pieces.append(character)
            if escapes and character == "\\":
                pieces.append((yield from text.peek()))
                text.at = min(text.at + 1, len(text.text))
        pieces.append(quote)
        return "".join(pieces)

    # Bare keys in braces

    def _braced(self, body: BracedCalls) -> Reading[bool]:
        text = self.text
        if not (yield from text.skip(body.lead)):
            return False
        name, found = yield from text.before(Markers(("{",)), LONGEST_HEADER)
        if found is None or not self._begin(name.strip()):
            return False
        self.writer.arguments("{")
        count = 0
        while True:
            yield from text.skip_characters(_BETWEEN)
            if (yield from text.skip("}")):
                break
            key, end = yield from self._until_top_level(":}", body.quote)
            value, end = (yield from self._until_top_level(",}", body.quote)) if end == ":" else ("", end)
            if not value and not end:
                return True
            key = key.replace(body.quote, "").strip()
            if key:
                self.writer.arguments(f"{', ' if count else ''}{as_json(key)}: {braced_json(value, body.quote)}")
                count += 1
            if end != ",":
                break
        self.writer.arguments("}" if not text.exhausted or end else "")
        return True

    # Code

    def _code(self, body: CodeCalls) -> Reading[bool]:
        name = next((each for each in body.names if each in self.tools), None)
        if not self._begin(name):
            return False
        yield from self.code_arguments(body.argument, Markers(()))
        return True

    def code_arguments(self, argument: str, ends: Markers) -> Reading[None]:
        """Read text up to one of `ends`, or all of it, as the only argument of a call that has begun."""
        self.writer.arguments(f'{{{as_json(argument)}: "')
        end = yield from self.text.passing(ends, lambda piece: self.writer.arguments(as_json(piece)[1:-1]))
        self.text.at -= len(end or "")
        self.writer.arguments('"}')


def _drop(_: str) -> None:
    """For text that nobody wants."""
