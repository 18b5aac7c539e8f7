"""The chat templates of a model's file, and the name of the format that they are, where it has one."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

TEMPLATE_KEY = "tokenizer.chat_template"
DEFAULT_FORMAT = "llama-2"
"""The format of models that say nothing."""
TEMPLATE_FORMAT = "chat_template.default"

KNOWN_TEMPLATES: Mapping[str, str] = {
    "153280e3ff55d19da1398bdb3914ee2a51b80429bfaedde11d7d216c39db80f3": "chatml",
    "fcf7a096fe99a48fd9ad2b250bf9237e96e8f48bffec1c7ea4d3f225176cd40e": "chatml",
    "26a59556925c987317ce5291811ba3b7f32ec4c647c400c6cc7e3a9993007ba7": "mistral-instruct",
    "b48c47f6443892716176eb200bf4ef108f64e06ca26ed0fa8ebc0a4b3992fcb2": "llama-3",
}
"""Formats with a name, by the SHA-256 of the template that models which follow them carry."""


def templates_in(metadata: Mapping[str, str]) -> dict[str, str]:
    """The file's templates by name; the one that is meant by default has the name `default`."""
    named = {key.removeprefix(TEMPLATE_KEY + "."): text for key, text in metadata.items() if key.startswith(TEMPLATE_KEY + ".")}
    default = metadata.get(TEMPLATE_KEY)
    return named if default is None else {**named, "default": default}


def guess_chat_format_from_gguf_metadata(metadata: Mapping[str, str]) -> str | None:
    """The name of the format whose template the file carries, exactly; None when it is none of the known ones."""
    template = metadata.get(TEMPLATE_KEY)
    return None if template is None else KNOWN_TEMPLATES.get(sha256(template.encode()).hexdigest())
