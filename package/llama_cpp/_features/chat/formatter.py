"""What turns a conversation into a prompt: the answer of every formatter, and the formatter of Jinja templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from .messages import content_text, offered_tools, text_messages, with_arguments_as
from .template_environment import render
from .template_traits import traits_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from llama_cpp._features.sampling.callbacks import StoppingCriterions

    from .handler import FormattedChatHandler
    from .messages import Message
    from .template_traits import TemplateTraits


@dataclass
class ChatFormatterResponse:
    """A prompt. `stop` and `stopping_criteria` end the answer beside those of the request.

    `added_special`: the prompt has its BOS already. However that may be, exactly one BOS comes before a prompt.
    """

    prompt: str
    stop: str | list[str] | None = None
    stopping_criteria: StoppingCriterions = None
    added_special: bool = False


class ChatFormatter(Protocol):
    """Makes a prompt of messages. Further keywords of the request come along and may be ignored."""

    def __call__(self, *, messages: list[Any], **kwargs: Any) -> ChatFormatterResponse:
        """The prompt."""


class Jinja2ChatFormatter:
    """A chat template, as Hugging Face's tokenizers and GGUF files carry them, compiled once, when it is first used.

    Calling it takes `messages`, `tools`, `documents`, `add_generation_prompt` and any variable of the template, which
    override those of the constructor. The template runs in a sandbox, with limits on its output, steps and time.
    Tool calls may have their arguments as objects or as JSON text, content may be null, text or a list of text parts.
    Raises `ChatTemplateError` (a ValueError and a `jinja2.TemplateError`) for a template that fails or refuses.
    """

    def __init__(  # noqa: PLR0917 - positional in both lineages
        self,
        template: str,
        eos_token: str,
        bos_token: str,
        add_generation_prompt: bool = True,
        stop_token_ids: list[int] | None = None,
        special_tokens_map: Mapping[str, Any] | None = None,
    ) -> None:
        self.template = template
        self.eos_token = eos_token
        self.bos_token = bos_token
        self.add_generation_prompt = add_generation_prompt
        self.stop_token_ids = None if stop_token_ids is None else {int(token) for token in stop_token_ids}
        self.special_tokens_map = dict(special_tokens_map or {})

    @property
    def shows_tools(self) -> bool:
        """Whether the template shows tools to the model."""
        return self.traits.tools

    @property
    def traits(self) -> TemplateTraits:
        """What the template takes."""
        return traits_of(self.template, self.bos_token, self.eos_token)

    def __call__(
        self,
        *,
        messages: Sequence[Any],
        functions: Sequence[Any] | None = None,
        function_call: Any = None,
        tools: Sequence[Any] | None = None,
        tool_choice: Any = None,
        documents: Sequence[Any] | None = None,
        **kwargs: Any,
    ) -> ChatFormatterResponse:
        """The prompt of a conversation."""
        choices = {"functions": functions, "function_call": function_call, "tool_choice": tool_choice}
        variables = {
            **_special_tokens(self.special_tokens_map),
            "eos_token": self.eos_token,
            "bos_token": self.bos_token,
            "add_generation_prompt": self.add_generation_prompt,
            **{name: value for name, value in choices.items() if value is not None},
            "messages": self.suited(messages),
            "tools": offered_tools(tools),
            "documents": documents,
            **kwargs,
        }
        return ChatFormatterResponse(
            prompt=render(self.template, variables),
            stop=[self.eos_token] if self.eos_token else [],
            stopping_criteria=None if self.stop_token_ids is None else [self._ends],
            added_special=True,
        )

    def suited(self, messages: Sequence[Any]) -> list[Message]:
        """The messages in the shape that the template takes."""
        traits = self.traits
        suited = with_arguments_as(text_messages(messages), objects=traits.object_arguments)
        for message in suited:
            if message["role"] == "developer" and not traits.developer:
                message["role"] = "system"
            if not message.get("content") and message.get("tool_calls"):
                message["content"] = None
            if message.get("content") is None and not traits.null_content:
                message["content"] = ""
            if traits.listed_content and isinstance(message.get("content"), str):
                message["content"] = [{"type": "text", "text": message["content"]}]
        return suited if traits.system else _without_system(suited)

    def to_chat_handler(self) -> FormattedChatHandler:
        """A chat handler that answers with this formatter's prompts."""
        from .handler import FormattedChatHandler  # noqa: PLC0415 - a handler is built on a formatter, not the other way round

        return FormattedChatHandler(self)

    def _ends(self, tokens: NDArray[np.intc], _: NDArray[np.single]) -> bool:
        return bool(len(tokens)) and int(tokens[-1]) in (self.stop_token_ids or ())


def _without_system(messages: list[Message]) -> list[Message]:
    """System messages at the head of what the user says next, for templates that refuse them."""
    kept: list[Message] = []
    head = ""
    for message in messages:
        if message["role"] == "system":
            head += f"{content_text(message.get('content')) or ''}\n\n"
        elif message["role"] == "user" and head:
            kept.append({**message, "content": head + (content_text(message.get("content")) or "")})
            head = ""
        else:
            kept.append(message)
    return [*kept, {"role": "user", "content": head.rstrip()}] if head else kept


def _special_tokens(tokens: Mapping[str, Any]) -> dict[str, Any]:
    """Special tokens by name; a tokenizer's file may have them as objects with their text in `content`."""
    return {
        name: content_text(value["content"]) if isinstance(value, Mapping) and "content" in value else value
        for name, value in tokens.items()
    }
