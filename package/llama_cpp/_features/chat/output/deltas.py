"""What a piece of a model's text adds to the message, and the whole message as the sum of such deltas."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from llama_cpp._features.types.chat_response import ChatCompletionResponseMessage
    from llama_cpp._features.types.tools import ChatCompletionMessageToolCall


class ToolCallDelta(NamedTuple):
    """What is added to the call at `index`: its id and name once, with the first delta; `arguments` piece by piece."""

    index: int  # type: ignore[assignment]  # the name hides a method of tuples
    id: str | None = None
    name: str | None = None
    arguments: str = ""


class MessageDelta(NamedTuple):
    """What is added to a message; None and () for nothing."""

    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: tuple[ToolCallDelta, ...] = ()


def whole_message(deltas: Iterable[MessageDelta]) -> ChatCompletionResponseMessage:
    """The message that the deltas build: `content` is None where there are only calls."""
    content: list[str] = []
    reasoning: list[str] = []
    calls: list[ChatCompletionMessageToolCall] = []
    for delta in deltas:
        content += [delta.content] if delta.content else []
        reasoning += [delta.reasoning_content] if delta.reasoning_content else []
        for call in delta.tool_calls:
            if call.index == len(calls):
                calls.append({"id": call.id or "", "type": "function", "function": {"name": call.name or "", "arguments": ""}})
            calls[call.index]["function"]["arguments"] += call.arguments
    message: ChatCompletionResponseMessage = {"role": "assistant", "content": None}
    if reasoning:
        message["reasoning_content"] = "".join(reasoning)
    if calls:
        message["tool_calls"] = calls
    message["content"] = None if calls and not content else "".join(content)
    return message


class _Passage:
    """The text of one field: white space beside markers is dropped, between two parts of the field it stays."""

    def __init__(self) -> None:
        self._space = ""
        self._cut = False
        self._begun = False

    def add(self, text: str) -> str:
        """The part of the field's text that is final now."""
        if self._cut:
            text = text.lstrip()
            if not text:
                return ""
            self._space = (self._space or "\n\n") if self._begun else ""
            self._cut = False
        body = text.rstrip()
        if not body:
            self._space += text
            return ""
        shown = self._space + body
        self._space = text[len(body) :]
        self._begun = True
        return shown

    def cut(self) -> None:
        """A marker stands here."""
        self._cut = True

    def finish(self) -> str:
        """White space at the end of a text that no marker follows belongs to it."""
        return "" if self._cut else self._space


class MessageWriter:
    """Collects deltas. With `parallel` False only the first call is kept."""

    def __init__(self, *, parallel: bool) -> None:
        self._parallel = parallel
        self._content = _Passage()
        self._reasoning = _Passage()
        self._reasoning.cut()
        self._deltas: list[MessageDelta] = []
        self._muted = False
        self.calls = 0

    def take(self) -> list[MessageDelta]:
        """What came together since the last time."""
        deltas, self._deltas = self._deltas, []
        return deltas

    def text(self, text: str, *, reasoning: bool) -> None:
        """More text of the content or the reasoning."""
        shown = (self._reasoning if reasoning else self._content).add(text)
        self._show(shown, reasoning=reasoning)

    def cut(self) -> None:
        """A marker stands here, in whatever is being written."""
        self._content.cut()
        self._reasoning.cut()

    def finish(self) -> None:
        """The text ends here."""
        self._show(self._content.finish(), reasoning=False)

    def begin_call(self, name: str, identifier: str | None = None) -> None:
        """A call of `name` begins."""
        self.cut()
        self._muted = not self._parallel and self.calls > 0
        if self._muted:
            return
        identifier = identifier or f"call_{secrets.token_hex(12)}"
        self._deltas.append(MessageDelta(tool_calls=(ToolCallDelta(self.calls, identifier, name),)))
        self.calls += 1

    def arguments(self, text: str) -> None:
        """More of the latest call's arguments, which are JSON text."""
        if self._muted or not text:
            return
        latest = self._deltas[-1] if self._deltas else None
        if latest is not None and latest.tool_calls and latest.tool_calls[0].index == self.calls - 1:
            call = latest.tool_calls[0]
            self._deltas[-1] = MessageDelta(tool_calls=(call._replace(arguments=call.arguments + text),))
        else:
            self._deltas.append(MessageDelta(tool_calls=(ToolCallDelta(self.calls - 1, arguments=text),)))

    def _show(self, text: str, *, reasoning: bool) -> None:
        if not text:
            return
        latest = self._deltas[-1] if self._deltas else MessageDelta()
        before = latest.reasoning_content if reasoning else latest.content
        if before is not None:
            self._deltas.pop()
            text = before + text
        self._deltas.append(MessageDelta(reasoning_content=text) if reasoning else MessageDelta(content=text))
