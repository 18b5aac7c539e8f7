"""The names of the handlers for images and sounds, which programs import; constructing one says that they aren't served yet."""

from __future__ import annotations

from typing import Any, NoReturn

from llama_cpp._features.errors import FeatureUnavailableError


class MTMDChatHandler:
    """The base of chat handlers for media."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise FeatureUnavailableError(f"{type(self).__name__} is not available in this version: chats take text only")

    def __call__(self, **_: Any) -> NoReturn:
        """Answer a conversation with media in it."""
        raise FeatureUnavailableError("chats take text only in this version")


class Llava15ChatHandler(MTMDChatHandler):
    """LLaVA 1.5."""


class Llava16ChatHandler(MTMDChatHandler):
    """LLaVA 1.6."""


class ObsidianChatHandler(MTMDChatHandler):
    """Obsidian 3B."""


class MoondreamChatHandler(MTMDChatHandler):
    """moondream2."""


class NanoLlavaChatHandler(MTMDChatHandler):
    """nanoLLaVA."""


class Llama3VisionAlphaChatHandler(MTMDChatHandler):
    """llama-3-vision-alpha."""


class MiniCPMv26ChatHandler(MTMDChatHandler):
    """MiniCPM-V 2.6."""


class Qwen25VLChatHandler(MTMDChatHandler):
    """Qwen2.5-VL."""


class Gemma4ChatHandler(MTMDChatHandler):
    """Gemma 4."""


Llama3VisionAlpha = Llama3VisionAlphaChatHandler
