"""Failures that only the feature layer can have."""

from __future__ import annotations

from llama_cpp._engine.errors import GrammarError
from llama_cpp._native.errors import LlamaError


class FeatureUnavailableError(LlamaError, NotImplementedError):
    """A documented parameter or method that this version does not serve yet was used."""


class ContextWindowError(LlamaError, ValueError):
    """A prompt that does not fit in the context."""


class EmptyPromptError(LlamaError, ValueError):
    """There is nothing to generate from: no token, and the vocabulary has no token to begin with."""


class GenerationUnsupportedError(LlamaError):
    """The model or its context cannot generate text."""


class EmbeddingUnsupportedError(LlamaError, RuntimeError):
    """The model or its context computes no embeddings, or does not rank."""


class GrammarSyntaxError(GrammarError):
    """GBNF text that is no grammar, at a `line` and a `column` that count from 1."""

    def __init__(self, message: str, *, line: int, column: int) -> None:
        self.line, self.column = line, column
        super().__init__(f"line {line}, column {column} of the grammar: {message}")


class SchemaError(LlamaError, ValueError):
    """A JSON Schema that no grammar was made of: `keyword` stands in the way, at the JSON pointer `pointer`."""

    def __init__(self, keyword: str, pointer: str, reason: str) -> None:
        super().__init__(f"{keyword} at {pointer}: {reason}")
        self.keyword = keyword
        self.pointer = pointer
        self.reason = reason


class InvalidSchemaError(SchemaError):
    """What was given is no valid JSON Schema."""


class UnsupportedSchemaError(SchemaError):
    """A valid schema that a grammar cannot express exactly."""


class StateMismatchError(LlamaError, ValueError):
    """A state that is not one, or of another model, context or version. Nothing was changed."""


class StateFileError(LlamaError, ValueError):
    """A state file that is damaged, cut short, or of a format that this version does not read."""


class StateRestoreError(LlamaError, RuntimeError):
    """Native code refused a state. The context is empty now."""
