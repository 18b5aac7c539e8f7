"""Sizes of a context that native code cannot plan its largest batch for: it ends the process at them.

The plan (`graph_reserve` in `src/llama-context.cpp`) is min(n_ctx, n_ubatch) tokens, shared evenly by n_seq_max texts. Where means are
computed all of them are outputs, and the share has to be even, or matrices don't fit each other; where a decoder attends to an encoder's
output, all texts have to share one cache.
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


def require_plan(model: Model, struct: Any) -> None:
    """Raise `ContextCreateError` if native code would end the process with these `llama_context_params`, now or at the first evaluation."""
    texts = max(int(struct.n_seq_max), 1)
    if texts > 1:
        _require_shares(model, struct, texts)
    if not struct.embeddings or (texts == 1 and struct.n_outputs_max == 0) or not _means(model.metadata, struct.pooling_type):
        return
    planned = _planned_tokens(model, struct, texts)
    if planned % texts:
        nearest = padded(planned, texts)
        raise ContextCreateError(f"for means n_ctx and n_ubatch are multiples of n_seq_max ({texts}); n_ubatch={nearest} is the nearest")
    if 0 < struct.n_outputs_max < planned and not model.has_encoder:
        raise ContextCreateError(f"for means every token is an output; leave n_outputs_max at 0, or set it to {planned} or more")


def _require_shares(model: Model, struct: Any, texts: int) -> None:
    if not struct.kv_unified and model.has_encoder and model.has_decoder:
        raise ContextCreateError(f"an encoder-decoder model keeps {texts} texts in one cache only: use kv_unified=True, or n_seq_max=1")
    n_batch = _batch_tokens(model, struct)
    outputs = n_batch if struct.n_outputs_max == 0 or model.has_encoder else int(struct.n_outputs_max)
    if outputs < texts:  # `output_reserve` makes room for one of each
        raise ContextCreateError(f"n_ctx, n_batch and n_outputs_max must be at least n_seq_max ({texts}): one output for each sequence")


def _batch_tokens(model: Model, struct: Any) -> int:
    n_ctx, n_batch = int(struct.n_ctx) or model.n_ctx_train, int(struct.n_batch)
    return n_ctx if n_ctx < n_batch and _causal(model, struct.attention_type) else n_batch


def _planned_tokens(model: Model, struct: Any, texts: int) -> int:
    n_ctx = padded(int(struct.n_ctx) or model.n_ctx_train, CONTEXT_PADDING)
    if not struct.kv_unified:
        n_ctx = padded(n_ctx // texts, CONTEXT_PADDING) * texts
    return min(n_ctx, _batch_tokens(model, struct), int(struct.n_ubatch) or int(struct.n_batch))


def _means(metadata: Mapping[str, str], pooling: int) -> bool:
    if pooling == llama.LLAMA_POOLING_TYPE_UNSPECIFIED:
        pooling = _number(metadata, "pooling_type")
    if pooling == llama.LLAMA_POOLING_TYPE_RANK:
        pooling = _number(metadata, "classifier.pooling_type")
    return pooling == llama.LLAMA_POOLING_TYPE_MEAN


def _causal(model: Model, attention: int) -> bool:
    if attention != llama.LLAMA_ATTENTION_TYPE_UNSPECIFIED:
        return attention == llama.LLAMA_ATTENTION_TYPE_CAUSAL
    return _own(model.metadata, "attention.causal") != "false"


def _number(metadata: Mapping[str, str], key: str) -> int:
    return int(_own(metadata, key) or llama.LLAMA_POOLING_TYPE_UNSPECIFIED)


def _own(metadata: Mapping[str, str], key: str) -> str | None:
    return metadata.get(f"{metadata.get('general.architecture')}.{key}")
