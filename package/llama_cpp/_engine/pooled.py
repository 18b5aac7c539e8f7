"""Sizes at which a context can compute the mean of a text's vectors: at others native code ends the process.

`llama_context` plans a largest batch of min(n_ctx, n_ubatch) tokens, all of them outputs, shared evenly by n_seq_max texts
(`graph_reserve` in `src/llama-context.cpp`). Where that is not even, its matrices don't fit each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_cpp._native.bindings import llama

from .errors import ContextCreateError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .model import Model

CONTEXT_PADDING = 256
"""Native code makes n_ctx a multiple of it."""


def padded(count: int, unit: int) -> int:
    """The least multiple of `unit` that is not below `count`."""
    return -(-count // unit) * unit


def require_even_batches(model: Model, struct: Any) -> None:
    """Raise `ContextCreateError` if `llama_init_from_model` would end the process with these `llama_context_params`."""
    texts = max(struct.n_seq_max, 1)
    if not struct.embeddings or (texts == 1 and struct.n_outputs_max == 0) or not _means(model.metadata, struct.pooling_type):
        return
    planned = _planned_tokens(model, struct)
    if planned % texts:
        nearest = padded(planned, texts)
        raise ContextCreateError(
            f"for means n_ctx and n_ubatch must be multiples of n_seq_max ({texts}); n_ubatch={nearest} is the nearest"
        )
    if 0 < struct.n_outputs_max < planned and not model.has_encoder:
        raise ContextCreateError(f"for means every token is an output; leave n_outputs_max at 0, or set it to {planned} or more")


def _planned_tokens(model: Model, struct: Any) -> int:
    n_ctx = int(struct.n_ctx) or model.n_ctx_train
    n_batch = int(struct.n_batch)
    if _causal(model.metadata, struct.attention_type):
        n_batch = min(n_ctx, n_batch)
    n_ubatch = min(n_batch, int(struct.n_ubatch) or int(struct.n_batch))
    n_ctx = padded(n_ctx, CONTEXT_PADDING)
    if not struct.kv_unified:
        texts = max(int(struct.n_seq_max), 1)
        n_ctx = padded(n_ctx // texts, CONTEXT_PADDING) * texts
    return min(n_ctx, n_ubatch)


def _means(metadata: Mapping[str, str], pooling: int) -> bool:
    if pooling == llama.LLAMA_POOLING_TYPE_UNSPECIFIED:
        pooling = _number(metadata, "pooling_type")
    if pooling == llama.LLAMA_POOLING_TYPE_RANK:
        pooling = _number(metadata, "classifier.pooling_type")
    return pooling == llama.LLAMA_POOLING_TYPE_MEAN


def _causal(metadata: Mapping[str, str], attention: int) -> bool:
    if attention != llama.LLAMA_ATTENTION_TYPE_UNSPECIFIED:
        return attention == llama.LLAMA_ATTENTION_TYPE_CAUSAL
    return _own(metadata, "attention.causal") != "false"


def _number(metadata: Mapping[str, str], key: str) -> int:
    return int(_own(metadata, key) or llama.LLAMA_POOLING_TYPE_UNSPECIFIED)


def _own(metadata: Mapping[str, str], key: str) -> str | None:
    return metadata.get(f"{metadata.get('general.architecture')}.{key}")
