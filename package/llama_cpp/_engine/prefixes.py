"""Tokens by the tokens that their text begins with: a grammar that refuses the shorter one refuses the longer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from .grammar import incomplete

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from .vocab import Vocab

PATIENCE = 24
"""How many times the tree of a vocabulary is asked for before it is made."""


class PrefixTree:
    """For each token those whose longest proper prefix among the tokens it is. Made once per vocabulary; shared.

    Tokens that end within a character are nobody's prefix: grammars judge what is only begun more strictly.
    """

    _made: ClassVar[WeakKeyDictionary[Vocab, PrefixTree]] = WeakKeyDictionary()
    _asked: ClassVar[WeakKeyDictionary[Vocab, int]] = WeakKeyDictionary()

    def __init__(self, pieces: list[bytes], ends: frozenset[int]) -> None:
        parents = np.full(len(pieces), -1)
        way: list[int] = []  # tokens that are prefixes of one another and of the one at hand
        for token in sorted(range(len(pieces)), key=pieces.__getitem__):
            piece = pieces[token]
            while way and not piece.startswith(pieces[way[-1]]):
                way.pop()
            if token in ends or not piece:
                continue
            if way and pieces[way[-1]] != piece:
                parents[token] = way[-1]
            elif way:
                parents[token] = parents[way[-1]]  # a double
            if b"\0" not in piece and not incomplete(piece) and (not way or pieces[way[-1]] != piece):
                way.append(token)
        self._children = np.argsort(parents, kind="stable")
        counts = np.bincount(parents + 1, minlength=len(pieces) + 1)
        self._starts = np.concatenate(([0], np.cumsum(counts)))

    @classmethod
    def of(cls, vocab: Vocab) -> PrefixTree | None:
        """The tree of a vocabulary; None the first times it is asked for, until making it, which takes a moment, pays."""
        known = cls._made.get(vocab)
        if known is None:
            asked = cls._asked[vocab] = cls._asked.get(vocab, 0) + 1
            if asked > PATIENCE:
                pieces = [vocab.piece(token, special=True) for token in range(vocab.n_tokens)]
                known = cls._made[vocab] = cls(pieces, frozenset(vocab.eog_tokens))
        return known

    def walk(self, allowed: Callable[[NDArray[np.intp]], NDArray[np.intp]]) -> NDArray[np.intp]:
        """All tokens that are allowed, in ascending order, from the answers for tokens whose prefixes are allowed."""
        starts, children = self._starts, self._children
        level = allowed(children[starts[0] : starts[1]])
        found = [level]
        while len(level):
            begins, ends = starts[level + 1], starts[level + 2]
            sizes = ends - begins
            total = int(sizes.sum())
            if not total:
                break
            places = np.arange(total) + np.repeat(begins - np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)
            level = allowed(children[places])
            found.append(level)
        return np.sort(np.concatenate(found))
