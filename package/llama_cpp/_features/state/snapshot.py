"""The snapshot itself: what is in it, its size, and pickles of it in either direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

LATER_FIELDS = ("last_logits", "compatibility")
"""What pickles of former versions lack."""


class LlamaState:
    """What a `Llama` has computed, apart from the object: its own copy of everything.

    Attributes:
        input_ids: The tokens, int32; the first `n_tokens` count.
        scores: With `logits_all` the logits of every token, float32 of shape (n_tokens, n_vocab); else no rows.
        n_tokens: How many tokens the native state stands behind.
        llama_state: The native state of the context.
        llama_state_size: Its bytes.
        seed: What the seeds of the requests to come follow from.
        last_logits: The logits of the last token, float32 of shape (n_vocab,); None when there were none to save.
        compatibility: What the state came from: model, context, adapters and version. None in pickles of former versions.
    """

    __module__ = "llama_cpp.llama"  # the name in pickles, which those of both lineages share

    def __init__(  # noqa: PLR0917 - positional in both lineages
        self,
        input_ids: NDArray[np.intc],
        scores: NDArray[np.single],
        n_tokens: int,
        llama_state: bytes,
        llama_state_size: int,
        seed: int,
        last_logits: NDArray[np.single] | None = None,
        compatibility: Mapping[str, Any] | None = None,
    ) -> None:
        self.input_ids = input_ids
        self.scores = scores
        self.n_tokens = n_tokens
        self.llama_state = llama_state
        self.llama_state_size = llama_state_size
        self.seed = seed
        self.last_logits = last_logits
        self.compatibility = compatibility

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays and the native state."""
        arrays = (self.input_ids, self.scores, self.last_logits)
        return len(self.llama_state) + sum(int(np.asarray(each).nbytes) for each in arrays if each is not None)

    @property
    def tokens(self) -> NDArray[np.intc]:
        """The tokens that count."""
        ids: NDArray[np.intc] = np.asarray(self.input_ids, np.intc)[: self.n_tokens]
        return ids

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(dict.fromkeys(LATER_FIELDS), **state)

    def __repr__(self) -> str:
        return f"<LlamaState of {self.n_tokens} tokens, {self.nbytes} bytes>"
