"""What evaluating a prompt, without generating anything, comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, kw_only=True)
class PrefillResult:
    """The state after a prompt.

    Attributes:
        logits: Of the token that comes next, float32 of shape (n_vocab,), read-only. It outlives the context.
        n_tokens: Tokens that the context holds now.
        n_evaluated: How many of them were evaluated for it; the rest was there already.
    """

    logits: NDArray[np.float32]
    n_tokens: int
    n_evaluated: int
