"""Chat responses as objects of the `openai` package, which is optional."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def converted(respond: Callable[[], Any]) -> Any:
    """What `respond` answers, as a `ChatCompletion` or a generator of `ChatCompletionChunk`. ImportError without the package."""
    try:
        from openai.types.chat import (  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - an optional package
            ChatCompletion,
            ChatCompletionChunk,
        )
    except ImportError as error:
        raise ImportError("create_chat_completion_openai_v1 needs the openai package: pip install openai") from error
    answer = respond()
    if isinstance(answer, dict):
        return ChatCompletion.model_validate(_published(answer))

    def chunks() -> Iterator[Any]:
        for chunk in answer:
            yield ChatCompletionChunk.model_validate(_published(chunk))

    return chunks()


def _published(answer: dict[str, Any]) -> dict[str, Any]:
    """The reasons for an end that OpenAI knows: a cancelled answer is one that was cut."""
    for choice in answer["choices"]:
        if choice["finish_reason"] == "abort":
            choice["finish_reason"] = "length"
    return answer
