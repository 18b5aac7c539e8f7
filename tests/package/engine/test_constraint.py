"""The choice among allowed tokens: exactly that of a chain that sees no others, however few are looked at."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._engine import constraint as module
from llama_cpp._engine.candidates import Candidates
from llama_cpp._engine.constraint import Constraint
from llama_cpp._engine.errors import GrammarError

N_VOCAB = 16384


class Vocab:
    n_tokens = N_VOCAB
    eog_tokens = (7, 9)
    eos = 9


class Filter:
    """Allows the tokens of a set; `unseen` of the others pass `apply`."""

    awake, prefixes_decide = True, False

    def __init__(self, allowed: set[int], unseen: set[int] = frozenset()) -> None:  # type: ignore[assignment]
        self.allowed, self.unseen = allowed, unseen
        self.looked_at = 0

    def allows(self, token: int) -> bool:
        return token in self.allowed

    def apply(self, candidates: Candidates) -> None:
        data = candidates.data
        self.looked_at += len(data)
        data["logit"][[int(token) not in self.allowed | self.unseen for token in data["id"]]] = -math.inf


def likeliest(candidates: Candidates) -> int:
    candidates.struct.selected = int(candidates.data["logit"].argmax())
    return candidates.selected_token


def made(*filters: Filter) -> Constraint:
    return Constraint(Vocab(), filters)  # type: ignore[arg-type]


@given(seed=st.integers(0, 1000), count=st.integers(1, 60), keep=st.sampled_from([None, 1, 5, 40]))
def test_the_kept_highest_allowed_tokens_are_offered(seed: int, count: int, keep: int | None) -> None:
    random = np.random.default_rng(seed)
    logits = random.normal(size=N_VOCAB).astype(np.float32)
    grammar = Filter({int(token) for token in random.permutation(N_VOCAB)[:count]})
    offered: list[int] = []

    def select(candidates: Candidates) -> int:
        offered.extend(candidates.data["id"].tolist())
        return likeliest(candidates)

    best = sorted(grammar.allowed, key=lambda token: -logits[token])
    assert made(grammar).choose(select, logits, keep=keep) == best[0]
    assert set(best[: keep or count]) <= set(offered) <= grammar.allowed


def test_a_short_look_is_enough_where_much_is_allowed() -> None:
    logits = np.random.default_rng(1).permutation(N_VOCAB).astype(np.float32)
    grammar = Filter({token for token in range(N_VOCAB) if logits[token] < N_VOCAB - 3})
    assert logits[made(grammar).choose(likeliest, logits, keep=8)] == N_VOCAB - 4
    assert grammar.looked_at < 1000


def test_tokens_that_only_asking_shows_to_be_refused_are_left_out_one_by_one() -> None:
    logits = np.arange(N_VOCAB, dtype=np.float32)
    grammar = Filter({3, 5}, unseen=set(range(100, 140)))
    assert made(grammar).choose(likeliest, logits, keep=2) == 5


def test_all_filters_count() -> None:
    logits = np.arange(N_VOCAB, dtype=np.float32)
    both = made(Filter({3, 5, 8}), Filter({3, 5, 9}))
    assert both.choose(likeliest, logits, keep=None, refused=8) == 5
    assert not both.allows(-1)
    assert not both.allows(8)


def test_a_sampler_that_puts_in_a_token_of_its_own_is_passed_over() -> None:
    def stubborn(candidates: Candidates) -> int:
        candidates.struct.selected = 0
        return 77

    logits = np.arange(N_VOCAB, dtype=np.float32)
    assert made(Filter({3, 5})).choose(stubborn, logits, keep=None) == 5


@pytest.mark.parametrize(("allowed", "expected"), [({3, 7, 9}, 9), ({3, 7}, 7)])
def test_an_end_that_is_allowed_comes_where_nothing_else_can(allowed: set[int], expected: int) -> None:
    logits = np.full(N_VOCAB, -math.inf, np.float32)
    assert made(Filter(allowed)).choose(likeliest, logits, keep=None) == expected
    assert made(Filter(allowed)).choose(lambda _: -1, logits, keep=None) == expected


def test_a_dead_end_is_told() -> None:
    logits = np.zeros(N_VOCAB, np.float32)
    with pytest.raises(GrammarError, match="nothing can follow"):
        made(Filter(set())).choose(likeliest, logits, keep=4)


def test_the_prefix_tree_is_used_where_prefixes_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    class Tree:
        @staticmethod
        def of(vocab: Any) -> Any:
            asked.append(vocab)
            return Tree

        @staticmethod
        def walk(allowed: Any) -> Any:
            return allowed(np.array([2, 4]))

    monkeypatch.setattr(module, "PrefixTree", Tree)
    grammar = Filter({4, 6})
    logits = np.arange(N_VOCAB, dtype=np.float32)
    assert made(grammar).choose(likeliest, logits, keep=None) == 6
    grammar.prefixes_decide = True
    assert made(grammar).choose(likeliest, logits, keep=None) == 4
    grammar.awake = False
    assert made(grammar).choose(likeliest, logits, keep=None) == 6
    assert len(asked) == 1
