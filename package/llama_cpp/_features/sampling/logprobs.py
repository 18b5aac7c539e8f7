"""Log-probabilities of tokens, and arithmetic on token ids, that need no model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from llama_cpp._engine.shortlist import Shortlist

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class TokenLogprobs:
    """What the model gave a token, before any sampler: its natural log-probability, and the likeliest tokens' in order.

    `logprob` is None for the first token of a text, which nothing comes before.
    """

    token: int
    logprob: float | None
    top: tuple[tuple[int, float], ...]


class LogprobRecorder:
    """Reads log-probabilities, with those of the `top` likeliest tokens, from logits of shape (n_vocab,). Keeps its buffers.

    `latest` is what was recorded last. The cost is three passes over the vocabulary; nothing is sorted but the `top`.
    """

    def __init__(self, top: int, n_vocab: int) -> None:
        self._top = min(top, n_vocab)
        self._weights = np.empty(n_vocab, np.float32)
        self._shortlist = Shortlist(n_vocab, self._top) if self._top and Shortlist.pays(n_vocab, self._top) else None
        self.latest: TokenLogprobs | None = None

    def record(self, logits: NDArray[np.float32], token: int) -> None:
        """The choice of `token`."""
        self.latest = self.read(logits, token)

    def read(self, logits: NDArray[np.float32], token: int) -> TokenLogprobs:
        """What the model gives `token`, and whom it prefers."""
        highest = logits.max()
        weights = np.exp(np.subtract(logits, highest, out=self._weights), out=self._weights)
        normalizer = float(highest) + math.log(weights.sum())
        return TokenLogprobs(
            token=token,
            logprob=float(logits[token]) - normalizer,
            top=tuple((int(each), float(logits[each]) - normalizer) for each in self._likeliest(logits)),
        )

    def _likeliest(self, logits: NDArray[np.float32]) -> NDArray[np.intp]:
        """Token ids, the likeliest first; of equals the lower id."""
        found = self._shortlist.tokens(logits) if self._shortlist else None
        if found is None:
            lowest = np.partition(logits, len(logits) - self._top)[len(logits) - self._top] if self._top else np.inf
            found = np.flatnonzero(logits >= lowest)
        return found[np.lexsort((found, -logits[found]))][: self._top]


def logits_to_logprobs(logits: NDArray[np.floating[Any]] | Sequence[float], axis: int = -1) -> NDArray[np.single]:
    """Logarithms of the probabilities that softmax gives along `axis`."""
    values = np.asarray(logits, dtype=np.single)
    shifted = values - np.max(values, axis=axis, keepdims=True)
    total: NDArray[np.single] = np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))
    return np.asarray(shifted - total, dtype=np.single)


def longest_token_prefix(a: Sequence[int], b: Sequence[int], verbose: bool = False) -> int:  # noqa: ARG001
    """How many tokens two sequences have in common at their beginning. `verbose` is accepted and says nothing."""
    most = min(len(a), len(b))
    different = np.flatnonzero(np.asarray(a[:most]) != np.asarray(b[:most]))
    return int(different[0]) if different.size else most
