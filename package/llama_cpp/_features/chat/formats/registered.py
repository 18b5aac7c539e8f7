"""Puts the formats of this package into the registry, once."""

from __future__ import annotations

from llama_cpp._features.chat.handler import FormattedChatHandler
from llama_cpp._features.chat.output.formats import GENERIC, format_named
from llama_cpp._features.chat.registry import LlamaChatCompletionHandlerRegistry

from .functionary import functionary_v1, functionary_v2
from .table import FORMATS

FUNCTION_CALLING = "chatml-function-calling"
"""ChatML with tools in plain text, as all formats of the table have them; the name is older than that."""


def _register() -> None:
    registry = LlamaChatCompletionHandlerRegistry()
    for row in FORMATS:
        registry.register(row.name, FormattedChatHandler(row, output=GENERIC))
        if row.name == "chatml":
            registry.register(FUNCTION_CALLING, FormattedChatHandler(row, output=GENERIC))
    for name in ("functionary", "functionary-v1"):
        registry.register(name, FormattedChatHandler(functionary_v1, output=format_named("functionary-v1")))
    registry.register("functionary-v2", FormattedChatHandler(functionary_v2, output=format_named("functionary-v2")))


_register()
