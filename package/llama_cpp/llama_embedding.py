"""Embeddings and rankings: `LlamaEmbedding`, the norms, and the kinds of pooling."""

from ._features.embedding.normalization import (
    NORM_MODE_EUCLIDEAN,
    NORM_MODE_MAX_INT16,
    NORM_MODE_NONE,
    NORM_MODE_PNORM,
    NORM_MODE_TAXICAB,
)
from ._features.llama.embedding import LlamaEmbedding
from ._native.bindings.constants.llama import (
    LLAMA_POOLING_TYPE_CLS,
    LLAMA_POOLING_TYPE_LAST,
    LLAMA_POOLING_TYPE_MEAN,
    LLAMA_POOLING_TYPE_NONE,
    LLAMA_POOLING_TYPE_RANK,
    LLAMA_POOLING_TYPE_UNSPECIFIED,
)

__all__ = [
    "LLAMA_POOLING_TYPE_CLS",
    "LLAMA_POOLING_TYPE_LAST",
    "LLAMA_POOLING_TYPE_MEAN",
    "LLAMA_POOLING_TYPE_NONE",
    "LLAMA_POOLING_TYPE_RANK",
    "LLAMA_POOLING_TYPE_UNSPECIFIED",
    "NORM_MODE_EUCLIDEAN",
    "NORM_MODE_MAX_INT16",
    "NORM_MODE_NONE",
    "NORM_MODE_PNORM",
    "NORM_MODE_TAXICAB",
    "LlamaEmbedding",
]
