"""How a `Llama` chats: the handlers of its own templates, the format that is chosen among all, and who answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_cpp._features.errors import FeatureUnavailableError

from .arguments import ADDED, DEFAULTS, complete_arguments
from .formats import registered as _registered  # noqa: F401 - fills the registry
from .formatter import Jinja2ChatFormatter
from .guess import DEFAULT_FORMAT, TEMPLATE_FORMAT, guess_chat_format_from_gguf_metadata, templates_in
from .handler import FormattedChatHandler, LlamaChatCompletionHandler
from .registry import accepted, get_chat_completion_handler
from .tool_choice import tool_request

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from llama_cpp._engine.vocab import Vocab
    from llama_cpp._features.llama.chat_methods import ChatMethods
    from llama_cpp._features.types.chat_response import CreateChatCompletionResponse, CreateChatCompletionStreamResponse

Handlers = dict[str, LlamaChatCompletionHandler]


def own_handlers(metadata: Mapping[str, str], vocab: Vocab) -> Handlers:
    """A handler for each chat template in the model's file."""
    eos, bos = (vocab.text(token).decode("utf-8", "replace") if token >= 0 else "" for token in (vocab.eos, vocab.bos))
    return {
        f"chat_template.{name}": FormattedChatHandler(Jinja2ChatFormatter(text, eos, bos)) for name, text in templates_in(metadata).items()
    }


def chosen_format(metadata: Mapping[str, str], handlers: Handlers, *, name: str | None, template: str | None) -> str:
    """The chat format to use: the one given by name, one of the model's templates, or what the file suggests.

    A model whose own template is a well-known one goes by that name too: it is added to `handlers`. Raises ValueError for a
    template that is not there.
    """
    templates = templates_in(metadata)
    if template is not None and template not in templates:
        raise ValueError(f"the model has no chat template {template!r}; it has: {', '.join(templates) or 'none'}")
    if name or template:
        return name or f"chat_template.{template}"
    own, known = handlers.get(TEMPLATE_FORMAT), guess_chat_format_from_gguf_metadata(metadata)
    if known is not None and own is not None:
        handlers[known] = own
    return known or (TEMPLATE_FORMAT if own is not None else DEFAULT_FORMAT)


def answer(llama: ChatMethods, given: Mapping[str, Any]) -> CreateChatCompletionResponse | Iterator[CreateChatCompletionStreamResponse]:
    """What the handler of `llama` answers to the arguments of `create_chat_completion`."""
    arguments = {name: given[name] for name in DEFAULTS if name not in ADDED or given[name] != ADDED[name]}
    handler = _answerer(llama)
    if not isinstance(handler, FormattedChatHandler):
        arguments["present_penalty"] = arguments["presence_penalty"] = given["present_penalty"] or given["presence_penalty"]
        return handler(**accepted(handler, {"llama": llama, "messages": given["messages"], **arguments}, DEFAULTS))
    return handler(llama=llama, messages=given["messages"], **arguments)


def prompt_tokens(llama: ChatMethods, messages: Any, given: Mapping[str, Any]) -> tuple[int, ...]:
    """The tokens of a conversation. Raises NotImplementedError for chat handlers that are no formats."""
    handler = _answerer(llama)
    if not isinstance(handler, FormattedChatHandler):
        raise FeatureUnavailableError("this chat handler has no prompt to evaluate ahead; use prefill with a text")
    complete = complete_arguments(given)
    request = tool_request(complete["tools"], complete["tool_choice"], complete["functions"], complete["function_call"])
    return handler.prompt(llama, messages, request, complete).tokens


def _answerer(llama: ChatMethods) -> LlamaChatCompletionHandler:
    own: Handlers = llama._chat_handlers  # noqa: SLF001 - its own dispatcher
    return llama.chat_handler or own.get(llama.chat_format) or get_chat_completion_handler(llama.chat_format)
