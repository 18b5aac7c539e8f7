"""The few tokens that can be among the highest logits, found in one pass that is quicker than a native sampler's.

A native sampler first copies the vocabulary into records and then sorts through them. Here block maxima give a bound that
the highest logits all reach, and only what reaches it becomes a record. Which samplers allow that is the chain's business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 64  # logits that share a maximum: their number falls with it, the work in the blocks that are opened grows
_SMALL = 1 << 16  # below so many tokens native code is as quick, unless it has to look for lowered ones
_CROWD = 4  # how many times the wanted blocks may reach the bound, by equal logits, before all is left to native code


class Shortlist:
    """Finds tokens of a vocabulary of `n_vocab` among which its `keep` highest logits are. Keeps its buffers."""

    def __init__(self, n_vocab: int, keep: int) -> None:
        self._keep = keep
        self._columns = n_vocab // _BLOCK
        self._maxima = np.empty(self._columns, np.float32)

    @staticmethod
    def pays(n_vocab: int, keep: int) -> bool:
        """Whether there are enough blocks to tell the highest from the rest."""
        return n_vocab // _BLOCK >= 2 * keep

    def tokens(self, logits: NDArray[np.float32]) -> NDArray[np.intp] | None:
        """Token ids in ascending order; None when logits are NaN, or so many are equal that there is no short list.

        A block holds every n_columns-th logit, so that maxima are taken over whole rows at once. As many blocks as are
        wanted tokens reach the bound, each with one token at least: so the wanted ones reach it too.
        """
        columns, maxima, keep = self._columns, self._maxima, self._keep
        blocks = logits[: columns * _BLOCK].reshape(_BLOCK, columns)
        np.maximum.reduce(blocks, axis=0, out=maxima)
        bound = np.partition(maxima, columns - keep)[columns - keep]
        opened = np.flatnonzero(maxima >= bound)
        if not keep <= len(opened) <= _CROWD * keep or bound == -np.inf:
            return None
        row, column = np.divmod(np.flatnonzero(blocks.take(opened, axis=1) >= bound), len(opened))
        found = row * columns + opened[column]
        rest = columns * _BLOCK
        return found if rest == len(logits) else np.concatenate((found, rest + np.flatnonzero(logits[rest:] >= bound)))


class Reach:
    """How many of the highest logits can decide what a chain selects, told sampler by sampler: `keep`, None for all."""

    def __init__(self) -> None:
        self.keep: int | None = None
        self._lowered: int | None = 0

    def lowers(self, tokens: int) -> None:
        """The next sampler can lower the logits of so many tokens, and raise none: as many others move up."""
        if self._lowered is not None:
            self._lowered += tokens

    def limits(self, count: int) -> None:
        """The next sampler leaves the `count` highest; what follows sees no others."""
        if self.keep is None and self._lowered is not None:
            self.keep = count + self._lowered

    def sees_all(self) -> None:
        """The next sampler does anything else."""
        self._lowered = None

    def shortlist(self, n_vocab: int) -> Shortlist | None:
        """What finds those logits; None where native code sees them all sooner."""
        if self.keep is None or not Shortlist.pays(n_vocab, self.keep) or (n_vocab < _SMALL and not self._lowered):
            return None
        return Shortlist(n_vocab, self.keep)
