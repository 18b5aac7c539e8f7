"""Tokens by their prefixes: walking finds what asking about all of them finds, with fewer questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._engine import prefixes
from llama_cpp._engine.prefixes import PrefixTree

if TYPE_CHECKING:
    import pytest

PIECES = st.lists(st.sampled_from(["a", "b", "é", "語", " "]), max_size=5).map("".join).map(str.encode)
RAW = st.binary(min_size=1, max_size=3)


class Allowed:
    """A grammar that allows what begins like one of `texts`, judged as llama.cpp does, character by character."""

    def __init__(self, pieces: list[bytes], texts: list[bytes], ends: frozenset[int]) -> None:
        self.pieces, self.texts, self.ends = pieces, texts, ends
        self.asked = 0

    def __call__(self, tokens: Any) -> Any:
        self.asked += len(tokens)
        return np.array([token for token in tokens if self.one(int(token))], np.intp)

    def one(self, token: int) -> bool:
        piece = self.pieces[token]
        return token in self.ends or (bool(piece) and any(text.startswith(piece) for text in self.texts))


@given(pieces=st.lists(PIECES | RAW, min_size=1, max_size=40), texts=st.lists(PIECES, max_size=3), end=st.integers(0, 5))
def test_walking_finds_what_asking_finds(pieces: list[bytes], texts: list[bytes], end: int) -> None:
    ends = frozenset({end} & set(range(len(pieces))))
    allowed = Allowed(pieces, texts, ends)
    everything = allowed(np.arange(len(pieces)))
    assert PrefixTree(pieces, ends).walk(allowed).tolist() == everything.tolist()


def test_few_are_asked_about() -> None:
    pieces = [*(bytes([each]) for each in range(97, 123)), *(b"b%d" % each for each in range(1000))]
    allowed = Allowed(pieces, [b"apple"], frozenset())
    assert PrefixTree(pieces, frozenset()).walk(allowed).tolist() == [0]
    assert allowed.asked == 26


def test_it_is_made_when_it_pays_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Vocab:
        n_tokens = 3
        eog_tokens = (2,)

        def piece(self, token: int, *, special: bool) -> bytes:
            assert special
            return b"abc"[: token + 1]

    monkeypatch.setattr(prefixes, "PATIENCE", 2)
    vocab: Any = Vocab()
    answers = [PrefixTree.of(vocab) for _ in range(4)]
    assert answers[:2] == [None, None]
    assert answers[2] is not None
    assert answers[3] is answers[2]
