"""The part of `LlamaContext` that reads what an evaluation left. Arrays are views: valid until the next evaluation.

Indices are places in the batch, or negative ones that count rows from the end; one without a row raises `OutputIndexError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_cpp._engine.device_sampling import DeviceSampling

from .context_core import ContextCore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .sampler import LlamaSampler


class OutputMethods(ContextCore):
    """Logits, embeddings, and what samplers on the device chose."""

    def get_logits(self) -> NDArray[np.float32]:
        """The logits of all rows, one after the other in one dimension."""
        return self.engine.logits_rows().reshape(-1)

    def get_logits_ith(self, i: int) -> NDArray[np.float32]:
        """The logits of one row."""
        return self.engine.logits(i)

    def get_embeddings(self) -> NDArray[np.float32]:
        """The embeddings of all tokens, one after the other in one dimension."""
        return self.engine.embeddings_rows().reshape(-1)

    def get_embeddings_ith(self, i: int) -> NDArray[np.float32]:
        """The embedding of one token."""
        return self.engine.embeddings(i)

    def get_embeddings_seq(self, seq_id: int) -> NDArray[np.float32]:
        """The pooled embedding of a sequence, or its rank."""
        return self.engine.embeddings_seq(seq_id)

    # ---- samplers on the device -------------------------------------------------------------------------------

    def set_sampler(self, seq_id: int, sampler: LlamaSampler | None) -> bool:
        """Let a chain choose a sequence's tokens in the graph of an evaluation; None ends it.

        False when the device can run nothing of it. A chain can be attached once; it samples only with this context then.
        """
        with self._lock:
            return DeviceSampling(self.engine).attach(seq_id, None if sampler is None else sampler.engine)

    def get_sampled_token_ith(self, i: int) -> int:
        """The token that the device chose; -1 when that is left to the chain."""
        return DeviceSampling(self.engine).token(i)

    def get_sampled_probs_ith(self, i: int) -> NDArray[np.float32]:
        """The probabilities of the device's candidates; empty when there are none."""
        return DeviceSampling(self.engine).probabilities(i)

    def get_sampled_logits_ith(self, i: int) -> NDArray[np.float32]:
        """The logits of the device's candidates; empty when there are none."""
        return DeviceSampling(self.engine).logits(i)

    def get_sampled_candidates_ith(self, i: int) -> NDArray[np.int32]:
        """The token ids of the device's candidates; empty when they are all tokens."""
        return DeviceSampling(self.engine).candidates(i)

    def get_sampled_probs_count_ith(self, i: int) -> int:
        """How many there are."""
        return len(self.get_sampled_probs_ith(i))

    def get_sampled_logits_count_ith(self, i: int) -> int:
        """How many there are."""
        return len(self.get_sampled_logits_ith(i))

    def get_sampled_candidates_count_ith(self, i: int) -> int:
        """How many there are."""
        return len(self.get_sampled_candidates_ith(i))
