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


def formatted(vectors: Sequence[Any], output_format: str, *, model: str, tokens: int) -> Any:
    """`json` is the response, `json+` has `cosineSimilarity` in it besides, `array` is the vectors alone."""
    if output_format not in FORMATS:
        raise ValueError(f"output_format must be one of {', '.join(FORMATS)}, not {output_format!r}")
    if output_format == "array":
        return list(vectors)
    answer: Any = response(vectors, model=model, tokens=tokens)
    if output_format == "json+":
        answer["cosineSimilarity"] = cosine_similarity(np.array(vectors, np.float32)).tolist()
    return answer
