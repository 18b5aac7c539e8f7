"""Chat handlers by name: the formats of this package, and those that programs register."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from .handler import FormattedChatHandler, LlamaChatCompletionHandler

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from typing_extensions import Self

    from .formatter import ChatFormatter

_Handler = TypeVar("_Handler", bound=LlamaChatCompletionHandler)
_Formatter = TypeVar("_Formatter", bound="ChatFormatter")


class LlamaChatCompletionHandlerNotFoundException(Exception):  # noqa: N818 - the published name
    """There is no chat handler of this name."""


class LlamaChatCompletionHandlerRegistry:
    """The handlers of this process. There is one: constructing it gives the same object."""

    _only: ClassVar[LlamaChatCompletionHandlerRegistry | None] = None
    _chat_handlers: dict[str, LlamaChatCompletionHandler]

    def __new__(cls) -> Self:
        if cls._only is None:
            made = super().__new__(cls)
            made._chat_handlers = {}
            cls._only = made
        return cls._only  # type: ignore[return-value]

    def register_chat_completion_handler(self, name: str, chat_handler: LlamaChatCompletionHandler, overwrite: bool = False) -> None:
        """Register a handler. Raises ValueError when the name is taken, unless `overwrite`."""
        if not overwrite and name in self._chat_handlers:
            raise ValueError(f"a chat handler named {name!r} is registered already; pass overwrite=True to replace it")
        self._chat_handlers[name] = chat_handler

    register = register_chat_completion_handler

    def unregister_chat_handler(self, name: str) -> None:
        """Forget a handler. Raises ValueError when there is none of this name."""
        if name not in self._chat_handlers:
            raise ValueError(f"no chat handler is named {name!r}")
        del self._chat_handlers[name]

    def get_chat_completion_handler_by_name(self, name: str) -> LlamaChatCompletionHandler:
        """The handler of this name; `LlamaChatCompletionHandlerNotFoundException` when there is none."""
        try:
            return self._chat_handlers[name]
        except KeyError:
            known = ", ".join(sorted(self._chat_handlers))
            raise LlamaChatCompletionHandlerNotFoundException(f"there is no chat format {name!r}; those registered are: {known}") from None


def get_chat_completion_handler(name: str) -> LlamaChatCompletionHandler:
    """The registered handler of this name; `LlamaChatCompletionHandlerNotFoundException` when there is none."""
    return LlamaChatCompletionHandlerRegistry().get_chat_completion_handler_by_name(name)


def register_chat_completion_handler(name: str) -> Callable[[_Handler], _Handler]:
    """Decorator: register a function as a chat handler. Raises ValueError when the name is taken."""

    def register(handler: _Handler) -> _Handler:
        LlamaChatCompletionHandlerRegistry().register_chat_completion_handler(name, handler)
        return handler

    return register


def register_chat_format(name: str) -> Callable[[_Formatter], _Formatter]:
    """Decorator: register a function that makes a `ChatFormatterResponse` of messages. ValueError when the name is taken."""

    def register(formatter: _Formatter) -> _Formatter:
        LlamaChatCompletionHandlerRegistry().register_chat_completion_handler(name, FormattedChatHandler(formatter))
        return formatter

    return register


def accepted(handler: Any, arguments: dict[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that a handler's signature has room for. TypeError when one that was really given has none."""
    import inspect  # noqa: PLC0415 - slow, and needed for handlers of programs only

    parameters = inspect.signature(handler).parameters.values()
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return arguments
    names = {each.name for each in parameters}
    for name, value in arguments.items():
        if name not in names and name in defaults and value is not defaults[name] and value != defaults[name]:
            raise TypeError(f"the chat handler takes no argument {name!r}")
    return {name: value for name, value in arguments.items() if name in names}
