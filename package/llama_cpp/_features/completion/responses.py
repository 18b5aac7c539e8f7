"""The dicts that a text completion answers with: a whole response, and the chunks of a streamed one."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llama_cpp._features.types.completion import (
        CompletionChunk,
        CompletionLogprobs,
        CompletionUsage,
        CreateCompletionResponse,
        FinishReason,
    )


class ResponseShaper:
    """Shapes all answers to one request: they share id, time and model name."""

    __slots__ = ("_created", "_id", "_model")

    def __init__(self, model: str) -> None:
        self._id = f"cmpl-{uuid.uuid4()}"
        self._created = int(time.time())
        self._model = model

    def chunk(self, text: str, finish_reason: FinishReason | None = None, logprobs: CompletionLogprobs | None = None) -> CompletionChunk:
        """What a streamed completion yields: a part of the text, or empty text with the reason of the end."""
        return {
            "id": self._id,
            "object": "text_completion",
            "created": self._created,
            "model": self._model,
            "choices": [{"text": text, "index": 0, "logprobs": logprobs, "finish_reason": finish_reason}],
        }

    def whole(
        self,
        text: str,
        finish_reason: FinishReason,
        logprobs: CompletionLogprobs | None = None,
        *,
        prompt_tokens: int,
        completion_tokens: int,
    ) -> CreateCompletionResponse:
        """The response of a completion that is not streamed."""
        usage: CompletionUsage = {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        }
        return {**self.chunk(text, finish_reason, logprobs), "usage": usage}
