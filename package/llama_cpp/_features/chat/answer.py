"""One answer of a chat completion: the text of a completion run through the parser of the model's format, whole or streamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .output.deltas import whole_message
from .responses import joined_logprobs, usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from llama_cpp._features.completion.run import CompletionRun
    from llama_cpp._features.types.chat_response import (
        ChatCompletionLogprobs,
        ChatCompletionResponseChoice,
        ChatFinishReason,
        CreateChatCompletionResponse,
        CreateChatCompletionStreamResponse,
    )
    from llama_cpp._features.types.completion import CompletionUsage

    from .output.parser import OutputParser
    from .responses import ChatShaper


class Answer:
    """The answer at `index`, to be run once: `choice()` or `chunks()`.

    `begun` is text that the prompt already holds of the answer and that belongs to it, such as the beginning of a forced call.
    """

    def __init__(self, run: CompletionRun, parser: OutputParser, shaper: ChatShaper, *, index: int = 0, begun: str = "") -> None:
        self.run = run
        self._parser = parser
        self._shaper = shaper
        self._index = index
        self._begun = begun

    def choice(self) -> ChatCompletionResponseChoice:
        """Run to the end."""
        deltas = self.run.answer()
        text = "".join(delta.text for delta in deltas)
        message = whole_message([*self._parser.feed(self._begun + text), *self._parser.finish()])
        return {
            "index": self._index,
            "message": self._shaper.message(message),
            "logprobs": joined_logprobs(delta.logprobs for delta in deltas if delta.logprobs),
            "finish_reason": self._finish_reason(),
        }

    def chunks(self, *, tools: bool) -> Iterator[CreateChatCompletionStreamResponse]:
        """Run while the caller iterates."""
        index, shape, deltas, feed = self._index, self._shaper.chunk, self._shaper.deltas, self._parser.feed
        yield shape(index, {"role": "assistant", "content": None} if tools else {"role": "assistant"})
        waiting: list[ChatCompletionLogprobs] = []
        for part in feed(self._begun) if self._begun else ():
            for shown in deltas(part):
                yield shape(index, shown)
        for text, logprobs in self.run.deltas():
            if logprobs is not None:
                waiting.append(logprobs)
            for part in feed(text):
                for shown in deltas(part):
                    yield shape(index, shown, None, joined_logprobs(waiting) if waiting else None)
                    waiting.clear()
        for part in self._parser.finish():
            for shown in deltas(part):
                yield shape(index, shown, None, joined_logprobs(waiting) if waiting else None)
                waiting.clear()
        yield shape(index, {}, self._finish_reason(), joined_logprobs(waiting) if waiting else None)

    def _finish_reason(self) -> ChatFinishReason:
        """Why it ended: a call that came to its end is the reason, one that was cut off is not."""
        reason: ChatFinishReason = self.run.finish_reason
        if reason == "stop" and self._parser.called_tool:
            return "function_call" if self._shaper.legacy else "tool_calls"
        return reason


def respond(answers: Sequence[Answer], shaper: ChatShaper) -> CreateChatCompletionResponse:
    """All answers, one after the other, as one response."""
    choices = [answer.choice() for answer in answers]
    return shaper.whole(choices, _usage(answers))


def stream(answers: Sequence[Answer], shaper: ChatShaper, *, tools: bool, with_usage: bool) -> Iterator[CreateChatCompletionStreamResponse]:
    """The chunks of all answers, one answer after the other."""
    for answer in answers:
        yield from answer.chunks(tools=tools)
    if with_usage:
        yield shaper.usage_chunk(_usage(answers))


def _usage(answers: Sequence[Answer]) -> CompletionUsage:
    return usage(answers[0].run.prompt_tokens, sum(answer.run.completion_tokens for answer in answers))
