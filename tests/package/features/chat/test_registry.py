"""Chat handlers by name, and handlers of programs whose signatures differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from llama_cpp._features.chat.arguments import DEFAULTS
from llama_cpp._features.chat.formatter import ChatFormatterResponse
from llama_cpp._features.chat.handler import FormattedChatHandler
from llama_cpp._features.chat.registry import (
    LlamaChatCompletionHandlerNotFoundException,
    LlamaChatCompletionHandlerRegistry,
    accepted,
    get_chat_completion_handler,
    register_chat_completion_handler,
    register_chat_format,
)

REGISTRY = LlamaChatCompletionHandlerRegistry()


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = dict(REGISTRY._chat_handlers)
    yield
    REGISTRY._chat_handlers.clear()
    REGISTRY._chat_handlers.update(before)


def test_there_is_one_registry() -> None:
    assert LlamaChatCompletionHandlerRegistry() is REGISTRY


def test_a_name_is_registered_once() -> None:
    @register_chat_completion_handler("mine")
    def handler(**_: Any) -> Any:
        return None

    assert get_chat_completion_handler("mine") is handler
    with pytest.raises(ValueError, match="'mine' is registered already"):
        register_chat_completion_handler("mine")(handler)
    REGISTRY.register("mine", other := (lambda **_: None), overwrite=True)  # type: ignore[arg-type,return-value]
    assert get_chat_completion_handler("mine") is other
    REGISTRY.unregister_chat_handler("mine")
    with pytest.raises(LlamaChatCompletionHandlerNotFoundException, match="no chat format 'mine'; those registered are: "):
        get_chat_completion_handler("mine")
    with pytest.raises(ValueError, match="no chat handler is named 'mine'"):
        REGISTRY.unregister_chat_handler("mine")


def test_a_format_becomes_a_handler() -> None:
    @register_chat_format("shouting")
    def shout(messages: list[Any], **_: Any) -> ChatFormatterResponse:
        return ChatFormatterResponse(prompt=messages[0]["content"].upper())

    made = get_chat_completion_handler("shouting")
    assert isinstance(made, FormattedChatHandler)
    assert made.formatter is shout
    assert shout(messages=[{"content": "hi"}]).prompt == "HI"


def test_handlers_get_what_they_have_room_for() -> None:
    def narrow(llama: Any, messages: Any, temperature: float = 1.0) -> None: ...
    def wide(llama: Any, messages: Any, **kwargs: Any) -> None: ...

    arguments = {"llama": 1, "messages": [], "temperature": 0.5, "top_k": DEFAULTS["top_k"]}
    assert accepted(narrow, arguments, DEFAULTS) == {"llama": 1, "messages": [], "temperature": 0.5}
    assert accepted(wide, arguments, DEFAULTS) == arguments
    with pytest.raises(TypeError, match="takes no argument 'top_k'"):
        accepted(narrow, {**arguments, "top_k": 3}, DEFAULTS)
