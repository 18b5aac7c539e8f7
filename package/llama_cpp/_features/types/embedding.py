"""Embedding responses."""

from typing import Literal

from typing_extensions import TypedDict


class EmbeddingUsage(TypedDict):
    """Token counts of an embedding request."""

    prompt_tokens: int
    total_tokens: int


class Embedding(TypedDict):
    """The vector of one input, or one vector per token where the context does not pool."""

    index: int
    object: str
    embedding: list[float] | list[list[float]]


class CreateEmbeddingResponse(TypedDict):
    """The vectors of all inputs, in their order."""

    object: Literal["list"]
    model: str
    data: list[Embedding]
    usage: EmbeddingUsage


EmbeddingData = Embedding
