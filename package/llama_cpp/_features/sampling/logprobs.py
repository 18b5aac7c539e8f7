"""Arithmetic on logits and token ids that needs no model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


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
