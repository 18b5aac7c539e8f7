"""The messages of a chat request and the parts that a message's content may have."""

from typing import Literal

from typing_extensions import NotRequired, TypedDict

from .tools import ChatCompletionMessageToolCalls


class ChatCompletionRequestMessageContentPartText(TypedDict):
    """A part that is text."""

    type: Literal["text"]
    text: str


class ChatCompletionRequestMessageContentPartImageImageUrl(TypedDict):
    """Where an image is (a data URI counts) and how closely to look."""

    url: str
    detail: NotRequired[Literal["auto", "low", "high"]]


class ChatCompletionRequestMessageContentPartImage(TypedDict):
    """A part that is an image."""

    type: Literal["image_url"]
    image_url: str | ChatCompletionRequestMessageContentPartImageImageUrl


class ChatCompletionRequestMessageContentPartAudioUrl(TypedDict):
    """Where a sound is."""

    url: str


class ChatCompletionRequestMessageContentPartAudio(TypedDict):
    """A part that is a sound, by address."""

    type: Literal["audio_url"]
    audio_url: str | ChatCompletionRequestMessageContentPartAudioUrl


class ChatCompletionRequestMessageContentPartInputAudioData(TypedDict):
    """A sound as base64 text."""

    data: str
    format: Literal["wav", "mp3"]


class ChatCompletionRequestMessageContentPartInputAudio(TypedDict):
    """A part that is a sound, by content."""

    type: Literal["input_audio"]
    input_audio: ChatCompletionRequestMessageContentPartInputAudioData


class ChatCompletionRequestMessageContentPartVideoUrl(TypedDict):
    """Where a video is."""

    url: str


class ChatCompletionRequestMessageContentPartVideo(TypedDict):
    """A part that is a video."""

    type: Literal["video_url"]
    video_url: str | ChatCompletionRequestMessageContentPartVideoUrl


ChatCompletionRequestMessageContentPart = (
    ChatCompletionRequestMessageContentPartText
    | ChatCompletionRequestMessageContentPartImage
    | ChatCompletionRequestMessageContentPartAudio
    | ChatCompletionRequestMessageContentPartInputAudio
    | ChatCompletionRequestMessageContentPartVideo
)


class ChatCompletionRequestSystemMessage(TypedDict):
    """What the model is to be."""

    role: Literal["system"]
    content: str | list[ChatCompletionRequestMessageContentPartText] | None


class ChatCompletionRequestDeveloperMessage(TypedDict):
    """The same, by its newer name."""

    role: Literal["developer"]
    content: str | list[ChatCompletionRequestMessageContentPartText] | None


class ChatCompletionRequestUserMessage(TypedDict):
    """What the user says or shows."""

    role: Literal["user"]
    content: str | list[ChatCompletionRequestMessageContentPart] | None


class ChatCompletionRequestAssistantMessageFunctionCall(TypedDict):
    """A call in the older `function_call` form."""

    name: str
    arguments: str


class ChatCompletionRequestAssistantMessage(TypedDict):
    """What the model answered earlier."""

    role: Literal["assistant"]
    content: NotRequired[str | list[ChatCompletionRequestMessageContentPartText] | None]
    reasoning_content: NotRequired[str | None]
    tool_calls: NotRequired[ChatCompletionMessageToolCalls]
    function_call: NotRequired[ChatCompletionRequestAssistantMessageFunctionCall]


class ChatCompletionRequestToolMessage(TypedDict):
    """What a tool returned."""

    role: Literal["tool"]
    content: str | list[ChatCompletionRequestMessageContentPartText] | None
    tool_call_id: str


class ChatCompletionRequestFunctionMessage(TypedDict):
    """What a function of the older form returned."""

    role: Literal["function"]
    content: str | None
    name: str


ChatCompletionRequestMessage = (
    ChatCompletionRequestSystemMessage
    | ChatCompletionRequestDeveloperMessage
    | ChatCompletionRequestUserMessage
    | ChatCompletionRequestAssistantMessage
    | ChatCompletionRequestToolMessage
    | ChatCompletionRequestFunctionMessage
)
