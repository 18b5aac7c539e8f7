"""Chat completions: the response, and the chunks of a streamed one."""

from typing import Literal

from typing_extensions import NotRequired, TypedDict

from .completion import CompletionUsage
from .tools import ChatCompletionMessageToolCallChunk, ChatCompletionMessageToolCalls

ChatFinishReason = Literal["stop", "length", "tool_calls", "function_call", "abort"]


class ChatCompletionResponseFunctionCall(TypedDict):
    """A call in the older `function_call` form; `arguments` is JSON text."""

    name: str
    arguments: str


class ChatCompletionResponseMessage(TypedDict):
    """What the model answered."""

    role: Literal["assistant", "function"]
    content: str | None
    refusal: NotRequired[str | None]
    reasoning_content: NotRequired[str | None]
    tool_calls: NotRequired[ChatCompletionMessageToolCalls]
    function_call: NotRequired[ChatCompletionResponseFunctionCall]


class ChatCompletionTopLogprobToken(TypedDict):
    """A token that might have stood here."""

    token: str
    logprob: float
    bytes: list[int] | None


class ChatCompletionLogprobToken(ChatCompletionTopLogprobToken):
    """A token that stands here, with the likeliest others."""

    top_logprobs: list[ChatCompletionTopLogprobToken]


class ChatCompletionLogprobs(TypedDict):
    """One entry per token of the content."""

    content: list[ChatCompletionLogprobToken] | None
    refusal: NotRequired[list[ChatCompletionLogprobToken] | None]


class ChatCompletionResponseChoice(TypedDict):
    """One answer."""

    index: int
    message: ChatCompletionResponseMessage
    logprobs: ChatCompletionLogprobs | None
    finish_reason: ChatFinishReason | None


class CreateChatCompletionResponse(TypedDict):
    """A whole chat completion."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[ChatCompletionResponseChoice]
    usage: CompletionUsage


class ChatCompletionStreamResponseDeltaFunctionCall(TypedDict):
    """What a chunk adds to a call in the older form."""

    name: str
    arguments: str


class ChatCompletionStreamResponseDeltaEmpty(TypedDict):
    """The last chunk adds nothing."""


class ChatCompletionStreamResponseDelta(TypedDict):
    """What a chunk adds to the message."""

    role: NotRequired[Literal["assistant"]]
    content: NotRequired[str | None]
    refusal: NotRequired[str | None]
    reasoning_content: NotRequired[str | None]
    function_call: NotRequired[ChatCompletionStreamResponseDeltaFunctionCall | None]
    tool_calls: NotRequired[list[ChatCompletionMessageToolCallChunk] | None]


class ChatCompletionStreamResponseChoice(TypedDict):
    """What a chunk adds to one answer."""

    index: int
    delta: ChatCompletionStreamResponseDelta
    logprobs: NotRequired[ChatCompletionLogprobs | None]
    finish_reason: ChatFinishReason | None


class CreateChatCompletionStreamResponse(TypedDict):
    """A chunk of a streamed chat completion."""

    id: str
    object: Literal["chat.completion.chunk"]
    created: int
    model: str
    choices: list[ChatCompletionStreamResponseChoice]
    usage: NotRequired[CompletionUsage | None]


ChatCompletion = CreateChatCompletionResponse
ChatCompletionChoice = ChatCompletionResponseChoice
ChatCompletionChunk = CreateChatCompletionStreamResponse
ChatCompletionChunkChoice = ChatCompletionStreamResponseChoice
ChatCompletionChunkDelta = ChatCompletionStreamResponseDelta
ChatCompletionFunctionCall = ChatCompletionResponseFunctionCall
ChatCompletionMessage = ChatCompletionResponseMessage
ChatCompletionResponseFunction = ChatCompletionResponseFunctionCall
ChatCompletionStreamResponse = CreateChatCompletionStreamResponse
