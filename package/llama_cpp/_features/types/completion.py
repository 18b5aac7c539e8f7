"""Text completions: the response, and a chunk of a streamed one (the same shape without `usage`)."""

from typing import Any, Literal

from typing_extensions import NotRequired, TypedDict

JsonType = int | float | str | list[Any] | dict[str, Any] | None

FinishReason = Literal["stop", "length", "abort"]


class CompletionLogprobs(TypedDict):
    """Parallel lists, one entry per token of the text."""

    text_offset: list[int]
    token_logprobs: list[float | None]
    tokens: list[str]
    top_logprobs: list[dict[str, float] | None]


class CompletionChoice(TypedDict):
    """One completion, or what a chunk adds to it."""

    text: str
    index: int
    logprobs: CompletionLogprobs | None
    finish_reason: FinishReason | None


class CompletionUsage(TypedDict):
    """Token counts of a request."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class CreateCompletionResponse(TypedDict):
    """A completion, or a chunk of one (then without `usage`)."""

    id: str
    object: Literal["text_completion"]
    created: int
    model: str
    choices: list[CompletionChoice]
    usage: NotRequired[CompletionUsage]


Completion = CreateCompletionResponse
CompletionChunk = CreateCompletionResponse
CreateCompletionStreamResponse = CreateCompletionResponse
