from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._engine.shortlist import Reach, Shortlist


@st.composite
def rows(draw: st.DrawFn) -> tuple[np.ndarray, int]:
    """Logits with as many equal values and gaps as there can be, and how many of the highest are wanted."""
    count = draw(st.integers(256, 2000))
    spread = draw(st.sampled_from([1, 3, 50, 10_000]))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    logits = generator.integers(-spread, spread, count, endpoint=True).astype(np.float32)
    logits[generator.random(count) < draw(st.sampled_from([0, 0.5, 0.99]))] = -np.inf
    return logits, draw(st.integers(1, count // 128))


@given(rows())
def test_a_short_list_holds_all_that_reach_the_lowest_wanted_logit(row: tuple[np.ndarray, int]) -> None:
    logits, keep = row
    assert Shortlist.pays(len(logits), keep)
    found = Shortlist(len(logits), keep).tokens(logits)
    lowest = np.sort(logits)[-keep]
    if found is None:
        columns = len(logits) // 64
        maxima = logits[: columns * 64].reshape(64, columns).max(axis=0)
        crowded = np.count_nonzero(maxima >= np.sort(maxima)[-keep]) > keep
        assert crowded or np.sort(maxima)[-keep] == -np.inf, "only equal logits, or too few of them, excuse that there is none"
    else:
        assert set(np.flatnonzero(logits >= lowest)) <= set(found.tolist())
        assert found.tolist() == sorted(set(found.tolist()))


def test_a_short_list_is_short() -> None:
    logits = np.random.default_rng(1).normal(size=150_000).astype(np.float32)
    found = Shortlist(len(logits), 40).tokens(logits)
    assert found is not None
    assert 40 <= len(found) <= 60


@pytest.mark.parametrize("token", [0, 77_777, 149_999])
def test_nan_anywhere_leaves_the_choice_to_native_code_or_is_no_candidate(token: int) -> None:
    logits = np.random.default_rng(1).normal(size=150_000).astype(np.float32)
    logits[token] = np.nan
    found = Shortlist(len(logits), 40).tokens(logits)
    assert found is None or token not in found


def test_a_buffer_is_used_again_for_other_logits() -> None:
    shortlist, generator = Shortlist(10_000, 5), np.random.default_rng(1)
    for _ in range(3):
        logits = generator.normal(size=10_000).astype(np.float32)
        found = shortlist.tokens(logits)
        assert found is not None
        assert set(np.argsort(logits)[-5:]) <= set(found.tolist())


def test_a_chain_reaches_as_far_as_its_first_limit() -> None:
    reach = Reach()
    assert reach.keep is None
    reach.limits(40)
    reach.sees_all()
    reach.limits(1)
    assert reach.keep == 40


def test_tokens_that_may_be_lowered_make_room_for_as_many_others() -> None:
    reach = Reach()
    reach.lowers(64)
    reach.lowers(3)
    reach.limits(40)
    assert reach.keep == 107


def test_a_sampler_that_sees_all_before_the_limit_forbids_a_short_list() -> None:
    reach = Reach()
    reach.lowers(64)
    reach.sees_all()
    reach.lowers(1)
    reach.limits(40)
    assert reach.keep is None
    assert reach.shortlist(1 << 20) is None


@pytest.mark.parametrize(("n_vocab", "lowered", "pays"), [(32_000, 0, False), (32_000, 64, True), (150_000, 0, True), (4_000, 64, False)])
def test_a_short_list_is_made_where_it_pays(n_vocab: int, lowered: int, pays: bool) -> None:
    reach = Reach()
    reach.lowers(lowered)
    reach.limits(40)
    assert (reach.shortlist(n_vocab) is not None) is pays
