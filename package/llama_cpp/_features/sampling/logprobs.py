"""Log-probabilities of tokens, and arithmetic on token ids, that need no model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

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
    """Keeps the log-probabilities of the token that was chosen last, with those of the `top` likeliest beside it.

    The cost per token is two passes over the vocabulary; nothing is sorted but the `top`.
    """

    def __init__(self, top: int) -> None:
        self._top = top
        self.latest: TokenLogprobs | None = None

    def record(self, logits: NDArray[np.float32], token: int) -> None:
        """The choice of `token`, from logits of shape (n_vocab,)."""
        self.latest = token_logprobs(logits, token, self._top)


def token_logprobs(logits: NDArray[np.float32], token: int, top: int) -> TokenLogprobs:
    """The log-probabilities of `token` and of the `top` likeliest tokens, from logits of shape (n_vocab,)."""
    highest = float(logits.max())
    normalizer = highest + float(np.log(np.exp(logits - np.float32(highest), dtype=np.float32).sum(dtype=np.float64)))
    count = min(top, len(logits))
    best = np.argpartition(logits, len(logits) - count)[len(logits) - count :] if count else np.zeros(0, np.intp)
    best = best[np.lexsort((best, -logits[best]))]
    return TokenLogprobs(
        token=token,
        logprob=float(logits[token]) - normalizer,
        top=tuple((int(each), float(logits[each]) - normalizer) for each in best),
    )


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
