"""Chat formats from Hugging Face: a tokenizer's configuration file, or a tokenizer of the `transformers` package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .formatter import ChatFormatterResponse, Jinja2ChatFormatter
from .handler import FormattedChatHandler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .formatter import ChatFormatter

_DEFAULT_TEMPLATE = "default"


def hf_tokenizer_config_to_chat_formatter(
    tokenizer_config: Mapping[str, Any], add_generation_prompt: bool = True, *, chat_template_name: str | None = None
) -> ChatFormatter:
    """The formatter that a `tokenizer_config.json` describes.

    Its `chat_template` may be a text, a list of named templates (of which `chat_template_name`, `default`, or the only
    one counts) or a dict of them; its tokens may be texts, objects with their text in `content`, or missing. Raises
    ValueError for a configuration without a template.
    """
    if not isinstance(tokenizer_config, Mapping):
        raise TypeError(f"a tokenizer's configuration is a dict, not {type(tokenizer_config).__name__}")
    template = _template(tokenizer_config.get("chat_template"), chat_template_name)
    named = {name: _token(value) for name, value in tokenizer_config.items() if name.endswith("_token") and not name.startswith("add_")}
    texts = {name: text for name, text in named.items() if text is not None}
    return Jinja2ChatFormatter(
        template,
        texts.get("eos_token", ""),
        texts.get("bos_token", ""),
        add_generation_prompt=add_generation_prompt,
        special_tokens_map=texts,
    )


def hf_tokenizer_config_to_chat_completion_handler(
    tokenizer_config: Mapping[str, Any], add_generation_prompt: bool = True
) -> FormattedChatHandler:
    """A chat handler with the prompts of a `tokenizer_config.json`."""
    return FormattedChatHandler(hf_tokenizer_config_to_chat_formatter(tokenizer_config, add_generation_prompt))


def hf_autotokenizer_to_chat_formatter(pretrained_model_name_or_path: Any) -> ChatFormatter:
    """A formatter that lets a tokenizer of `transformers` make the prompts. Raises ImportError without that package."""
    try:
        from transformers import AutoTokenizer  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - an optional package
    except ImportError as error:
        raise ImportError("hf_autotokenizer_to_chat_formatter needs the transformers package: pip install transformers") from error
    tokenizer = AutoTokenizer.from_pretrained(pretrained_model_name_or_path)

    def formatter(
        *, messages: Sequence[Any], tools: Any = None, documents: Any = None, add_generation_prompt: bool = True, **kwargs: Any
    ) -> ChatFormatterResponse:
        variables = {name: value for name, value in kwargs.items() if value is not None}
        prompt = tokenizer.apply_chat_template(
            list(messages), tools=tools, documents=documents, tokenize=False, add_generation_prompt=add_generation_prompt, **variables
        )
        return ChatFormatterResponse(prompt=str(prompt), stop=tokenizer.eos_token or [], added_special=True)

    formatter.template = getattr(tokenizer, "chat_template", None)  # type: ignore[attr-defined]
    return formatter


def hf_autotokenizer_to_chat_completion_handler(pretrained_model_name_or_path: Any) -> FormattedChatHandler:
    """A chat handler with the prompts of a tokenizer of `transformers`."""
    return FormattedChatHandler(hf_autotokenizer_to_chat_formatter(pretrained_model_name_or_path))


def _template(value: Any, name: str | None) -> str:
    if isinstance(value, str) and name in (None, _DEFAULT_TEMPLATE):
        return value
    named = dict(value) if isinstance(value, Mapping) else {}
    if isinstance(value, list):
        named = {each["name"]: each["template"] for each in value if isinstance(each, Mapping) and {"name", "template"} <= set(each)}
    chosen = named.get(name or _DEFAULT_TEMPLATE) or (next(iter(named.values())) if len(named) == 1 and name is None else None)
    if not isinstance(chosen, str):
        known = f"; its templates are: {', '.join(named)}" if named else ""
        raise ValueError(f"the tokenizer's configuration has no chat template{f' {name!r}' if name else ''}{known}")  # noqa: TRY004
    return chosen


def _token(value: Any) -> str | None:
    if isinstance(value, Mapping):
        value = value.get("content")
    return value if isinstance(value, str) else None
