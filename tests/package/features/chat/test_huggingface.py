"""Formatters from tokenizer configurations, in the shapes that configurations have."""

from __future__ import annotations

from typing import Any

import pytest

from llama_cpp._features.chat.handler import FormattedChatHandler
from llama_cpp._features.chat.huggingface import (
    hf_tokenizer_config_to_chat_completion_handler,
    hf_tokenizer_config_to_chat_formatter,
)

TEMPLATE = "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}{% if add_generation_prompt %}>{% endif %}"
OTHER = "other"
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
USER = [{"role": "user", "content": "Hi"}]


def prompt(config: dict[str, Any], **kwargs: Any) -> str:
    return hf_tokenizer_config_to_chat_formatter(config, **kwargs)(messages=USER).prompt


@pytest.mark.parametrize(
    "template",
    [
        TEMPLATE,
        [{"name": "tool_use", "template": OTHER}, {"name": "default", "template": TEMPLATE}],
        [{"name": "only", "template": TEMPLATE}],
        {"default": TEMPLATE, "rag": OTHER},
    ],
)
def test_shapes_of_the_template(template: Any) -> None:
    assert prompt({**TOKENS, "chat_template": template}) == "<s>Hi</s>>"
    assert prompt({**TOKENS, "chat_template": template}, add_generation_prompt=False) == "<s>Hi</s>"


def test_a_template_by_name() -> None:
    templates = [{"name": "tool_use", "template": OTHER}, {"name": "default", "template": TEMPLATE}]
    assert prompt({"chat_template": templates}, chat_template_name="tool_use") == "other"
    with pytest.raises(ValueError, match="no chat template 'rag'; its templates are: tool_use, default"):
        prompt({"chat_template": templates}, chat_template_name="rag")


@pytest.mark.parametrize("token", [{"content": "<s>", "lstrip": False}, "<s>"])
def test_shapes_of_a_token(token: Any) -> None:
    assert prompt({"chat_template": TEMPLATE, "bos_token": token, "eos_token": None}) == "<s>Hi>"


def test_other_tokens_reach_the_template() -> None:
    assert prompt({"chat_template": "{{ pad_token }}", "pad_token": {"content": "<pad>"}, "add_bos_token": True}) == "<pad>"


@pytest.mark.parametrize("config", [{}, {"chat_template": None}, {"chat_template": []}, {"chat_template": {"a": "x", "b": "y"}}])
def test_a_configuration_without_a_template(config: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="has no chat template"):
        prompt(config)


def test_what_is_no_configuration() -> None:
    with pytest.raises(TypeError, match="is a dict, not str"):
        hf_tokenizer_config_to_chat_formatter("config.json")  # type: ignore[arg-type]


def test_a_handler() -> None:
    handler = hf_tokenizer_config_to_chat_completion_handler({"chat_template": TEMPLATE})
    assert isinstance(handler, FormattedChatHandler)
