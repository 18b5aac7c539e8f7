"""The choice of a token that grammars allow, at little more than the price of one that nothing constrains.

A chain chooses among all tokens first, and the grammars are asked about that one. Where it is refused, the chain chooses again
among the allowed tokens, as if the vocabulary had no others. Finding those is what costs, so as few as possible are looked at:
where the chain looks at a few of the highest logits only, a short list of the highest that holds enough allowed ones; else tokens
whose text begins with an allowed token's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .candidates import Candidates
from .errors import GrammarError
from .prefixes import PrefixTree
from .shortlist import Shortlist

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from .grammar import TokenFilter
    from .vocab import Vocab

    Select = Callable[[Candidates], int]

_SPARE = 3  # how many times what the chain looks at is put on the short list
_LEAST = 64


class Constraint:
    """Chooses among the tokens of `vocab` that all of `filters` allow. Keeps its buffers."""

    def __init__(self, vocab: Vocab, filters: Sequence[TokenFilter]) -> None:
        self._vocab = vocab
        self._filters = filters
        self._room = Candidates(_LEAST)
        self._shortlist: Shortlist | None = None
        self._kept = 0

    def allows(self, token: int) -> bool:
        """Whether the token may come now; no token (-1) may not."""
        return token >= 0 and all(each.allows(token) for each in self._filters)

    def choose(self, select: Select, logits: NDArray[np.float32], *, keep: int | None, refused: int = -1) -> int:
        """What `select`, which runs the chain over candidates, takes of the allowed tokens.

        `keep` highest of these decide it, None for all; `refused` is known not to be allowed. Where none is left, an end of
        generation that the grammars allow is chosen although the chain forbids it. `GrammarError` when there is none either.
        """
        few = None if keep is None else self._few(logits, keep)
        tokens = self._all() if few is None else few
        tokens, gone = tokens[tokens != refused], [refused]
        while True:
            if few is not None and len(tokens) < (keep or 0):
                tokens, few = self._all(), None
                tokens = tokens[~np.isin(tokens, gone)]
            token = self._selected(select, tokens, logits) if len(tokens) else -1
            if token < 0:
                return self._end()
            if self.allows(token):
                return token
            if token not in tokens:  # a sampler has put in a token of its own, the infill sampler an end
                select = _likeliest
                continue
            gone.append(token)
            tokens = tokens[tokens != token]

    def _selected(self, select: Select, tokens: NDArray[np.intp], logits: NDArray[np.float32]) -> int:
        """What is selected; -1 for nothing, and for a token that has no chance."""
        room = self._filled(tokens, logits[tokens])
        token = select(room)
        return token if token >= 0 and room.struct.data[room.selected].logit > -np.inf else -1

    def _filled(self, tokens: NDArray[np.intp], logits: NDArray[np.float32] | float) -> Candidates:
        if self._room.capacity < len(tokens):
            self._room = Candidates(len(tokens))
        self._room.fill_tokens(tokens, logits)
        return self._room

    def _end(self) -> int:
        ends = [token for token in self._vocab.eog_tokens if self.allows(token)]
        if not ends:
            raise GrammarError("nothing can follow: the grammar allows none of the tokens that biases, processors and samplers left")
        return self._vocab.eos if self._vocab.eos in ends else ends[0]

    def _few(self, logits: NDArray[np.float32], keep: int) -> NDArray[np.intp] | None:
        """Allowed tokens among which the `keep` highest allowed ones are; None when that is not known."""
        wanted = max(_LEAST, _SPARE * keep)
        if not Shortlist.pays(len(logits), wanted):
            return None
        if self._shortlist is None or self._kept != wanted:
            self._shortlist, self._kept = Shortlist(len(logits), wanted), wanted
        tokens = self._shortlist.tokens(logits)
        if tokens is None:
            return None
        tokens = self.of(tokens)
        return tokens if len(tokens) >= keep else None

    def _all(self) -> NDArray[np.intp]:
        """The allowed tokens of the whole vocabulary."""
        deciding = [each for each in self._filters if each.awake]
        if deciding and all(each.prefixes_decide for each in deciding):
            tree = PrefixTree.of(self._vocab)
            if tree is not None:
                return tree.walk(self.of)
        return self.of(np.arange(self._vocab.n_tokens))

    def of(self, tokens: NDArray[np.intp]) -> NDArray[np.intp]:
        """Those of the tokens that are allowed, in their order, as far as `apply` tells."""
        room = self._filled(tokens, 0.0)
        for each in self._filters:
            each.apply(room)
        passed: NDArray[np.bool_] = room.data["logit"] == 0
        return tokens[passed]


def _likeliest(candidates: Candidates) -> int:
    candidates.struct.selected = int(candidates.data["logit"].argmax())
    return candidates.selected_token
