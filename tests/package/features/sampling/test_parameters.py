"""Sampling parameters: validation, and the chain of samplers that follows from them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from llama_cpp._features.sampling.chain import stages
from llama_cpp._features.sampling.logprobs import logits_to_logprobs, longest_token_prefix
from llama_cpp._features.sampling.parameters import SamplingParams
from llama_cpp._features.sampling.seeds import RANDOM_SEED, SeedSource, seed_value


def chain(**changes: Any) -> list[tuple[str, tuple[Any, ...]]]:
    return stages(SamplingParams(**changes), n_vocab=100, n_ctx=512, seed=7)


def test_the_default_chain_is_in_llama_cpps_order() -> None:
    assert chain() == [("top_k", (40,)), ("top_p", (0.95, 0)), ("min_p", (0.05, 0)), ("temp", (0.8,)), ("dist", (7,))]


def test_everything_on() -> None:
    names = [name for name, _ in chain(repeat_penalty=1.1, typical_p=0.5)]
    assert names == ["penalties", "top_k", "typical", "top_p", "min_p", "temp", "dist"]


def test_everything_off() -> None:
    assert chain(top_k=0, top_p=1.0, min_p=0.0, typical_p=1.0, temperature=1.0) == [("dist", (7,))]


@pytest.mark.parametrize("changes", [{"temperature": 0}, {"temperature": -1.0}, {"top_k": 1}])
def test_greedy_choice_needs_no_filters(changes: dict[str, Any]) -> None:
    assert chain(**changes) == [("greedy", ())]


def test_penalties_come_before_greedy_choice() -> None:
    assert chain(temperature=0, frequency_penalty=0.5) == [("penalties", (100, 64, 1.0, 0.5, 0.0)), ("greedy", ())]


@pytest.mark.parametrize(("last_n", "window"), [(-1, 512), (10, 10)])
def test_the_window_of_the_penalties(last_n: int, window: int) -> None:
    assert chain(presence_penalty=1.0, penalty_last_n=last_n)[0] == ("penalties", (100, window, 1.0, 0.0, 1.0))


def test_an_empty_window_penalizes_nothing() -> None:
    assert chain(presence_penalty=1.0, penalty_last_n=0)[0][0] == "top_k"


def test_min_keep_reaches_the_filters() -> None:
    assert chain(min_keep=3)[1:3] == [("top_p", (0.95, 3)), ("min_p", (0.05, 3))]


@pytest.mark.parametrize(
    "changes",
    [
        {"temperature": math.nan},
        {"temperature": "hot"},
        {"top_p": None},
        {"top_k": 1.5},
        {"top_k": True},
        {"repeat_penalty": 0},
        {"penalty_last_n": -2},
        {"min_keep": -1},
    ],
)
def test_values_that_make_no_sense(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(changes))):
        SamplingParams(**changes)


def test_a_seeded_series_repeats_and_does_not_stand_still() -> None:
    one, other = SeedSource(3), SeedSource(3)
    series = [one.resolve(None) for _ in range(5)]
    assert series == [other.resolve(None) for _ in range(5)]
    assert len(set(series)) == 5
    assert RANDOM_SEED not in series


def test_an_unseeded_series_differs() -> None:
    assert SeedSource().resolve(None) != SeedSource().resolve(None)


def test_a_given_seed_is_taken_as_it_is() -> None:
    assert SeedSource().resolve(0) == 0
    with pytest.raises(ValueError, match="seed"):
        seed_value(1.5)


def test_logprobs_are_those_of_softmax() -> None:
    logprobs = logits_to_logprobs([0.0, math.log(3.0)])
    assert logprobs.tolist() == pytest.approx([math.log(0.25), math.log(0.75)])


@pytest.mark.parametrize(("a", "b", "length"), [([], [1], 0), ([1, 2], [1, 2, 3], 2), ([1, 2], [1, 3], 1), ([5], [6], 0)])
def test_longest_token_prefix(a: list[int], b: list[int], length: int) -> None:
    assert longest_token_prefix(a, b) == length
