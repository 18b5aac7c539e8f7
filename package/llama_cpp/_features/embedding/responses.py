"""The dicts that an embedding request answers with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .normalization import cosine_similarity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llama_cpp._features.types.embedding import CreateEmbeddingResponse

FORMATS = ("json", "json+", "array")


def response(vectors: Sequence[Any], *, model: str, tokens: int) -> CreateEmbeddingResponse:
    """The shape of OpenAI's embeddings endpoint."""
    return {
        "object": "list",
        "data": [{"object": "embedding", "embedding": vector, "index": index} for index, vector in enumerate(vectors)],
        "model": model,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def require_format(output_format: str) -> None:
    """Raise ValueError for a format that there is not."""
    if output_format not in FORMATS:
        raise ValueError(f"output_format must be one of {', '.join(FORMATS)}, not {output_format!r}")


def formatted(answer: CreateEmbeddingResponse, output_format: str) -> Any:
    """`json` is the response, `json+` has `cosineSimilarity` in it besides, `array` is the vectors alone."""
    vectors = [item["embedding"] for item in answer["data"]]
    if output_format == "array":
        return vectors
    if output_format == "json+":
        if any(np.ndim(vector) != 1 for vector in vectors):
            raise ValueError("output_format='json+' compares pooled vectors; this model gives a vector per token, or scores")
        return {**answer, "cosineSimilarity": cosine_similarity(np.array(vectors, np.float32)).tolist()}
    return answer
