"""The dicts that a chat completion answers with: whole responses and chunks, log-probabilities, usage."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any

from llama_cpp._features.completion.logprob_text import LogprobText

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from llama_cpp._features.sampling.logprobs import TokenLogprobs
    from llama_cpp._features.types.chat_response import (
        ChatCompletionLogprobs,
        ChatCompletionResponseChoice,
        ChatCompletionResponseMessage,
        ChatCompletionStreamResponseDelta,
        ChatCompletionTopLogprobToken,
        ChatFinishReason,
        CreateChatCompletionResponse,
        CreateChatCompletionStreamResponse,
    )
    from llama_cpp._features.types.completion import CompletionUsage
    from llama_cpp._features.types.tools import ChatCompletionMessageToolCallChunk

    from .output.deltas import MessageDelta, ToolCallDelta


class ChatShaper:
    """Shapes all answers to one request: they share id, time and model name.

    `model` is the name to answer with. `legacy` gives calls the form of the older `function_call`, of which there is one.
    """

    __slots__ = ("_created", "_id", "legacy", "model")

    def __init__(self, model: str, *, legacy: bool = False) -> None:
        self._id = f"chatcmpl-{uuid.uuid4()}"
        self._created = int(time.time())
        self.model = model
        self.legacy = legacy

    def whole(self, choices: list[ChatCompletionResponseChoice], usage: CompletionUsage) -> CreateChatCompletionResponse:
        """The response that is not streamed."""
        return {
            "id": self._id,
            "object": "chat.completion",
            "created": self._created,
            "model": self.model,
            "choices": choices,
            "usage": usage,
        }

    def chunk(
        self,
        index: int,
        delta: ChatCompletionStreamResponseDelta,
        finish_reason: ChatFinishReason | None = None,
        logprobs: ChatCompletionLogprobs | None = None,
    ) -> CreateChatCompletionStreamResponse:
        """What adds `delta` to the answer at `index`."""
        return {
            "id": self._id,
            "object": "chat.completion.chunk",
            "created": self._created,
            "model": self.model,
            "choices": [{"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": finish_reason}],
        }

    def usage_chunk(self, usage: CompletionUsage) -> CreateChatCompletionStreamResponse:
        """The last chunk of a stream that was asked for usage: it has no choice."""
        chunk = self.chunk(0, {})
        chunk["choices"] = []
        chunk["usage"] = usage
        return chunk

    def message(self, message: ChatCompletionResponseMessage) -> ChatCompletionResponseMessage:
        """A whole message in the form that was asked for."""
        calls = message.get("tool_calls")
        if not (self.legacy and calls):
            return message
        del message["tool_calls"]
        message["function_call"] = {**calls[0]["function"]}
        return message

    def deltas(self, delta: MessageDelta) -> Sequence[ChatCompletionStreamResponseDelta]:
        """A part of a message as what chunks carry: none for calls that have no place in the older form."""
        content, reasoning, calls = delta
        if content is not None and reasoning is None and not calls:
            return ({"content": content},)
        shown: ChatCompletionStreamResponseDelta = {}
        if content is not None:
            shown["content"] = content
        if reasoning is not None:
            shown["reasoning_content"] = reasoning
        if calls and not self.legacy:
            shown["tool_calls"] = [_call_chunk(call) for call in calls]
        older: list[ChatCompletionStreamResponseDelta] = [
            {"function_call": {"name": call.name or "", "arguments": call.arguments}} for call in calls if self.legacy and call.index == 0
        ]
        return [shown, *older] if shown else older


def _call_chunk(call: ToolCallDelta) -> ChatCompletionMessageToolCallChunk:
    chunk: ChatCompletionMessageToolCallChunk = {
        "index": call.index,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }
    if call.id is not None:
        chunk["id"] = call.id
    return chunk


def usage(prompt_tokens: int, completion_tokens: int) -> CompletionUsage:
    """Token counts."""
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    }


class ChatLogprobText(LogprobText):
    """Log-probabilities in the shape of a chat: one entry per token, with its bytes."""

    def _shaped(self, taken: list[tuple[int, TokenLogprobs]]) -> ChatCompletionLogprobs:
        return {
            "content": [
                {
                    **self._entry(entry.token, entry.logprob),
                    "top_logprobs": [self._entry(token, logprob) for token, logprob in entry.top],
                }
                for _, entry in taken
            ],
            "refusal": None,
        }

    def _entry(self, token: int, logprob: Any) -> ChatCompletionTopLogprobToken:
        return {"token": self._text(token), "logprob": logprob, "bytes": list(self._piece(token) or b"")}


def joined_logprobs(parts: Iterable[ChatCompletionLogprobs]) -> ChatCompletionLogprobs | None:
    """Parts in a row as one; None when there are none."""
    content = [entry for part in parts for entry in part["content"] or ()]
    return {"content": content, "refusal": None} if content else None
