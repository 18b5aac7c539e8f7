"""The logits of every evaluated token, for contexts that were asked to keep them all (`logits_all`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ScoreRows:
    """One row of logits per position, shape (n_ctx, n_vocab), float32; untouched rows take no memory."""

    def __init__(self, n_ctx: int, n_vocab: int) -> None:
        self.rows: NDArray[np.float32] = np.zeros((n_ctx, n_vocab), np.float32)

    def record(self, first: int, logits: NDArray[np.float32]) -> None:
        """Copy the logits of consecutive positions."""
        self.rows[first : first + len(logits)] = logits
