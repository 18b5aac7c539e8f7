"""Failures that only the feature layer can have."""

from __future__ import annotations

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
