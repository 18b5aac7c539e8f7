"""From the text that a model writes to the message: content, thoughts and calls, the same machine streamed or not."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from .calls import LONGEST_HEADER, CallReader
from .deltas import MessageDelta, MessageWriter, ToolCallDelta, whole_message
from .description import CallForm, Channels, CodeCalls, OutputFormat
from .incoming import IncomingText, Markers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from llama_cpp._features.types.tools import ChatCompletionTool

    from .description import Recipient
    from .incoming import Reading

__all__ = ["MessageDelta", "OutputParser", "ToolCallDelta", "whole_message"]


class OutputParser:
    """Reads one answer written in `format`.

    Calls are looked for when `tools` are offered; with `parallel` False only the first is kept. `reasoning_started`
    says that the prompt ends within the thinking. The deltas of `feed` and `finish` together do not depend on
    how the text was split.
    """

    def __init__(
        self,
        format: OutputFormat,  # noqa: A002 - what it is
        *,
        tools: Sequence[ChatCompletionTool] = (),
        parallel: bool = True,
        reasoning_started: bool = False,
    ) -> None:
        self._text = IncomingText()
        self._writer = MessageWriter(parallel=parallel)
        offered = {tool["function"]["name"]: tool["function"].get("parameters") or {} for tool in tools}
        machine = _Machine(format, self._text, self._writer, offered)
        self._plain = machine.plain and not reasoning_started
        self._steps = machine.message(reasoning=reasoning_started)

    @property
    def called_tool(self) -> bool:
        """Whether a call has begun."""
        return self._writer.calls > 0

    def feed(self, text: str) -> list[MessageDelta]:
        """Take more text; what it adds to the message for sure."""
        if self._plain:
            return [MessageDelta(content=text)] if text else []
        self._text.add(text)
        return self._advance() if text else []

    def finish(self) -> list[MessageDelta]:
        """No more text will come: what is left. Calls that are cut off keep what they have."""
        if self._plain:
            return []
        self._text.ended = True
        return self._advance()

    def _advance(self) -> list[MessageDelta]:
        next(self._steps, None)
        return self._writer.take()


class _Marks(NamedTuple):
    """What is looked for, outside of thoughts and within them, and what begins a call."""

    outside: Markers
    within: Markers
    forms: dict[str, CallForm]


@lru_cache(maxsize=64)
def _marks(description: OutputFormat, *, tools: bool) -> _Marks:
    forms: dict[str, CallForm] = {}
    for form in description.calls if tools else ():
        for text in (form.opener, *form.starts):
            if text:
                forms.setdefault(text, form)
    channels, reasoning = description.channels, description.reasoning
    switches = (*channels.openers, *channels.ends) if channels else ()
    thoughts = (reasoning.start, reasoning.end) if reasoning else ()
    outside = Markers((*forms, *switches, *thoughts, *description.ignored))
    return _Marks(outside, Markers((*switches, *thoughts[1:])), forms)


class _Machine:
    """Switches between content, thoughts and calls."""

    def __init__(self, description: OutputFormat, text: IncomingText, writer: MessageWriter, tools: Mapping[str, Any]) -> None:
        self._description = description
        self._channels = description.channels
        self._text = text
        self._writer = writer
        self._tools = tools
        self._marks = _marks(description, tools=bool(tools))
        self._bare = tuple(form for form in description.calls if form.bare) if tools else ()
        self._calls = CallReader(text, writer, tools)
        self._reasoning = False

    @property
    def plain(self) -> bool:
        """Whether all text is content."""
        return not (self._marks.outside.texts or self._bare or (self._channels and self._channels.initial))

    def message(self, *, reasoning: bool) -> Reading[None]:
        """Read everything."""
        self._reasoning = reasoning
        if self._channels is not None and self._channels.initial:
            yield from self._header(self._channels)
        fresh = True  # where a call may stand that nothing announces
        while not self._text.exhausted:
            for form in self._bare if fresh and not self._reasoning else ():
                yield from self._calls.bare(form)
            fresh = False
            markers = self._marks.within if self._reasoning else self._marks.outside
            marker = yield from self._text.passing(markers, self._show)
            self._text.forget(but=len(marker or ""))
            if marker is not None:
                thinking = self._reasoning
                yield from self._meet(marker)
                fresh = thinking and not self._reasoning
        self._writer.finish()

    def _show(self, text: str) -> None:
        self._writer.text(text, reasoning=self._reasoning)

    def _meet(self, marker: str) -> Reading[None]:
        """Do what a marker asks for."""
        channels, form = self._channels, self._marks.forms.get(marker)
        marks = self._description.reasoning
        if form is not None and not self._reasoning:
            if not (yield from self._calls.section(form, marker)):
                self._show(marker)
        elif marks is not None and marker in (marks.start, marks.end):
            self._writer.cut()
            self._reasoning = marker == marks.start
        elif channels is not None and marker in channels.openers:
            if not (yield from self._header(channels)):
                self._show(marker)
        else:
            self._writer.cut()
            self._reasoning = False

    def _header(self, channels: Channels) -> Reading[bool]:
        """Read the header of a message within the message; False, and nothing read, where there is none."""
        text, start = self._text, self._text.at
        header, found = yield from text.before(Markers((channels.header_end,)), LONGEST_HEADER)
        recipient, name = _recipient(channels, header) if found is not None else (None, None)
        if recipient == "call" and not self._tools:
            recipient = "content"
        if recipient is None or (recipient == "call" and channels.known_only and name not in self._tools):
            text.at = start
            return False
        text.forget()
        self._writer.cut()
        self._reasoning = recipient == "reasoning"
        if recipient == "call" and name is not None:
            yield from self._channel_call(name)
        return True

    def _channel_call(self, name: str) -> Reading[None]:
        """Read the arguments of a call that a header announced: JSON, or code as it stands."""
        self._writer.begin_call(name)
        yield from self._text.skip_characters()
        if (yield from self._text.peek()) in ("{", "[") or name not in CodeCalls().names:
            yield from self._calls.json_arguments()
        else:
            yield from self._calls.code_arguments(CodeCalls().argument, self._marks.within)


def _recipient(channels: Channels, header: str) -> tuple[Recipient | None, str | None]:
    for pattern, recipient in channels.recipients:
        match = re.search(pattern, header)
        if match is not None:
            return recipient, match.groupdict().get("name")
    return None, None
