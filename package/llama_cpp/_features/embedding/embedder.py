"""Vectors of token sequences from a context for embeddings, several sequences at a time."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from llama_cpp._engine.batch import Batch
from llama_cpp._engine.model_file import tensors_named
from llama_cpp._features.errors import ContextWindowError, EmbeddingUnsupportedError
from llama_cpp._native.bindings import llama

from .packing import packs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from llama_cpp._engine.context import Context

    TokenArray = NDArray[np.int32]


_HEAD = ("cls.weight", "cls.output.weight")


class Embedder:
    """Computes one vector per sequence where the context pools, else one per token.

    The context's memory is used for it and left empty. Whoever calls holds the execution lock.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self.pools = context.pooling_type != llama.LLAMA_POOLING_TYPE_NONE
        self.ranks = context.pooling_type == llama.LLAMA_POOLING_TYPE_RANK
        self.width = context.model.n_cls_out if self.ranks else context.model.n_embd_out
        self._encodes = context.memory is None or context.model.has_encoder
        self._batch: Batch | None = None

    @cached_property
    def _has_head(self) -> bool:
        """Without one, native code would take the first number of a vector for a score."""
        return tensors_named(self._context.model.path, _HEAD) != frozenset()

    @property
    def limit(self) -> int:
        """How many tokens of one input are evaluated at most: pooling and non-causal attention need them in one piece."""
        context = self._context
        limit = context.n_ctx_seq
        if context.memory is None:
            limit = min(limit, context.model.n_ctx_train or limit)  # the positions that the model has
        if self.pools or self._encodes or not context.causal:
            limit = min(limit, context.n_ubatch, context.n_batch)
        return limit

    def fit(self, tokens: TokenArray, *, truncate: bool) -> TokenArray:
        """The tokens, or as many as there is room for, less from the middle of an input that ends with the model's own end.

        Raises `ContextWindowError` where cutting is not wanted.
        """
        limit = self.limit
        if len(tokens) <= limit:
            return tokens
        if not truncate:
            raise ContextWindowError(
                f"Requested tokens ({len(tokens)}) exceed context window of {limit}; use a larger n_ctx and n_batch, or truncate=True"
            )
        vocab = self._context.vocab
        ending = tokens[-1:] if tokens[-1] in (vocab.eos, vocab.sep) else tokens[:0]
        return np.concatenate((tokens[: limit - len(ending)], ending))

    def vectors(self, inputs: Sequence[TokenArray]) -> list[NDArray[np.float32]]:
        """For each input an array of shape (width,), or (tokens, width) without pooling, in their order.

        An input without tokens gives zeros, or no rows.
        """
        context = self._context
        if not context.embeds:
            raise EmbeddingUnsupportedError("this Llama computes no embeddings; create it with embeddings=True")
        if self.ranks and not self._has_head:
            raise EmbeddingUnsupportedError("this model has no classification head to rank with; choose another pooling_type")
        empty = np.zeros(self.width if self.pools else (0, self.width), np.float32)
        found = [empty] * len(inputs)
        room = min(context.n_batch, context.n_ubatch) if self.pools or self._encodes or not context.causal else context.n_batch
        together = 1 if context.model.has_encoder else context.n_seq_max
        for pack in packs([len(tokens) for tokens in inputs], tokens=room, sequences=together):
            self._forget()
            for index, rows in zip(pack, self._evaluate([inputs[index] for index in pack]), strict=True):
                found[index] = rows
        self._forget()
        return found

    def _forget(self) -> None:
        if self._context.memory is not None:
            self._context.memory.clear(data=False)

    def _evaluate(self, pack: Sequence[TokenArray]) -> list[NDArray[np.float32]]:
        context = self._context
        if len(pack[0]) > context.n_batch:
            return [self._in_chunks(pack[0])]
        batch = self._filled(pack)
        if self._encodes:
            context.encode_batch(batch)
        else:
            context.decode_batch(batch)
        if self.pools:
            return [context.embeddings_seq(seq_id).copy() for seq_id in range(len(pack))]
        rows = context.embeddings_rows()
        ends = np.cumsum([len(tokens) for tokens in pack])
        return [part.copy() for part in np.split(rows, ends[:-1])]

    def _in_chunks(self, tokens: TokenArray) -> NDArray[np.float32]:
        context = self._context
        parts = [context.embeddings_rows().copy() for _ in context.decode_chunks(tokens, pos=0, outputs="all")]
        return np.concatenate(parts)

    def _filled(self, pack: Sequence[TokenArray]) -> Batch:
        batch = self._batch
        if batch is None:
            batch = self._batch = Batch(max(self._context.n_batch, self._context.n_ubatch))
        batch.clear()
        for seq_id, tokens in enumerate(pack):
            batch.append(tokens, pos=0, seq_id=seq_id, outputs="all")
        return batch
