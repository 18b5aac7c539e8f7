"""Functions and tools: how a chat request describes them, and how it asks for one."""

from typing import Literal

from typing_extensions import NotRequired, TypedDict

from .completion import JsonType

ChatCompletionFunctionParameters = dict[str, JsonType]  # a JSON Schema


class ChatCompletionFunctions(TypedDict):
    """A function of the older `functions` parameter."""

    name: str
    description: NotRequired[str]
    parameters: NotRequired[dict[str, JsonType]]


ChatCompletionFunction = ChatCompletionFunctions


class ChatCompletionFunctionCallOption(TypedDict):
    """The function that the older `function_call` parameter asks for."""

    name: str


class ChatCompletionRequestFunctionCallOption(TypedDict):
    """The same, under its request name."""

    name: str


ChatCompletionRequestFunctionCall = Literal["none", "auto"] | ChatCompletionRequestFunctionCallOption


class ChatCompletionToolFunction(TypedDict):
    """The function that a tool wraps."""

    name: str
    description: NotRequired[str]
    parameters: NotRequired[ChatCompletionFunctionParameters]
    strict: NotRequired[bool | None]


class ChatCompletionTool(TypedDict):
    """An entry of the `tools` parameter."""

    type: Literal["function"]
    function: ChatCompletionToolFunction


class ChatCompletionNamedToolChoiceFunction(TypedDict):
    """The name inside a named tool choice."""

    name: str


class ChatCompletionNamedToolChoice(TypedDict):
    """A `tool_choice` that asks for one tool by name."""

    type: Literal["function"]
    function: ChatCompletionNamedToolChoiceFunction


ChatCompletionToolChoiceOption = Literal["none", "auto", "required"] | ChatCompletionNamedToolChoice


class ChatCompletionRequestResponseFormat(TypedDict):
    """The `response_format` parameter; `schema` (or OpenAI's nested `json_schema`) narrows the JSON."""

    type: Literal["text", "json_object", "json_schema"]
    schema: NotRequired[JsonType]
    json_schema: NotRequired[JsonType]


class ChatCompletionMessageToolCallFunction(TypedDict):
    """What a tool call calls; `arguments` is JSON text."""

    name: str
    arguments: str


class ChatCompletionMessageToolCall(TypedDict):
    """A call of a tool in an assistant's message."""

    id: str
    type: Literal["function"]
    function: ChatCompletionMessageToolCallFunction


ChatCompletionMessageToolCalls = list[ChatCompletionMessageToolCall]


class ChatCompletionMessageToolCallChunkFunction(TypedDict):
    """What a chunk adds to the function of a tool call."""

    name: str | None
    arguments: str


class ChatCompletionMessageToolCallChunk(TypedDict):
    """What a chunk adds to a tool call; `index` says to which."""

    index: int
    id: NotRequired[str]
    type: Literal["function"]
    function: ChatCompletionMessageToolCallChunkFunction
