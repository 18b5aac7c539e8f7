"""Sampling parameters: validation, and the chain of samplers that follows from them."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from llama_cpp._features.sampling.chain import Stage, stages
from llama_cpp._features.sampling.logprobs import logits_to_logprobs, longest_token_prefix
from llama_cpp._features.sampling.parameters import SamplingParams
from llama_cpp._features.sampling.seeds import RANDOM_SEED, SeedSource, seed_value

VOCAB: Any = SimpleNamespace(n_tokens=100, suppress_tokens=(), eog_tokens=(98, 99))


def chain(vocab: Any = VOCAB, **changes: Any) -> list[Stage]:
    return stages(SamplingParams(**changes), vocab, n_ctx=512, seed=7)


def names(vocab: Any = VOCAB, **changes: Any) -> list[str]:
    return [stage.name for stage in chain(vocab, **changes)]


EVERYTHING: dict[str, Any] = {
    "logit_bias": ((1, 1.0),), "repeat_penalty": 1.1, "dry_multiplier": 0.8, "top_n_sigma": 1.0, "typical_p": 0.5,
    "xtc_probability": 0.5, "infill": True, "dynatemp_range": 0.5,
}  # fmt: skip


def test_the_default_chain_is_in_llama_cpps_order() -> None:
    assert chain() == [
        Stage("top_k", (40,)),
        Stage("top_p", (0.95, 0)),
        Stage("min_p", (0.05, 0)),
        Stage("temp", (0.8,)),
        Stage("dist", (7,)),
    ]


def test_everything_on() -> None:
    filters = ["top_n_sigma", "top_k", "typical", "top_p", "min_p", "xtc", "infill"]
    assert names(**EVERYTHING) == ["logit_bias", "penalties", "dry", *filters, "temp_ext", "dist"]


def test_everything_off() -> None:
    assert chain(top_k=0, top_p=1.0, min_p=0.0, typical_p=1.0, temperature=1.0) == [Stage("dist", (7,))]


@pytest.mark.parametrize("changes", [{"temperature": 0}, {"temperature": -1.0}, {"top_k": 1}])
def test_greedy_choice_needs_no_filters(changes: dict[str, Any]) -> None:
    assert names(**changes) == ["greedy"]
    assert names(**{**EVERYTHING, "mirostat_mode": 2, "adaptive_target": 0.5, **changes}) == ["logit_bias", "penalties", "dry", "greedy"]


@pytest.mark.parametrize(("mode", "name"), [(1, "mirostat"), (2, "mirostat_v2")])
def test_mirostat_takes_the_place_of_the_filters(mode: int, name: str) -> None:
    assert names(mirostat_mode=mode, **EVERYTHING) == ["logit_bias", "penalties", "dry", "temp_ext", name]


def test_adaptive_p_chooses_in_place_of_the_plain_draw() -> None:
    assert chain(adaptive_target=0.25, adaptive_decay=0.5)[-1] == Stage("adaptive_p", (0.25, 0.5, 7))


def test_a_stated_order_is_kept_and_leaves_out_what_it_does_not_name() -> None:
    assert names(order=("temperature", "top_p", "top_k")) == ["temp", "top_p", "top_k", "dist"]
    with pytest.raises(ValueError, match="no sampler 'top_z'"):
        SamplingParams(order=("top_z",))


def test_penalties_come_before_greedy_choice() -> None:
    assert chain(temperature=0, frequency_penalty=0.5) == [Stage("penalties", (100, 64, 1.0, 0.5, 0.0)), Stage("greedy")]


@pytest.mark.parametrize(("last_n", "window"), [(-1, 512), (10, 10)])
def test_the_window_of_the_penalties(last_n: int, window: int) -> None:
    assert chain(presence_penalty=1.0, penalty_last_n=last_n)[0] == Stage("penalties", (100, window, 1.0, 0.0, 1.0))
    assert chain(dry_multiplier=1.0, dry_penalty_last_n=last_n)[0].options["last_n"] == window


@pytest.mark.parametrize(
    ("changes", "window"),
    [
        ({}, 0),
        ({"presence_penalty": 1.0}, 64),
        ({"presence_penalty": 1.0, "penalty_last_n": 0}, 0),
        ({"dry_multiplier": 1.0, "dry_penalty_last_n": -1}, 512),
        ({"presence_penalty": 1.0, "dry_multiplier": 1.0, "dry_penalty_last_n": 80}, 80),
    ],
)
def test_the_chain_is_shown_as_much_as_it_looks_back_at(changes: dict[str, Any], window: int) -> None:
    assert SamplingParams(**changes).window(512) == window


def test_an_empty_window_penalizes_nothing() -> None:
    assert names(presence_penalty=1.0, penalty_last_n=0)[0] == "top_k"


def test_min_keep_reaches_the_filters() -> None:
    assert chain(min_keep=3)[1:3] == [Stage("top_p", (0.95, 3)), Stage("min_p", (0.05, 3))]


def test_biases_of_one_token_add_up_and_forbidden_stays_forbidden() -> None:
    vocab = SimpleNamespace(n_tokens=100, suppress_tokens=(3,), eog_tokens=(98, 99))
    (first, *_) = chain(vocab, logit_bias=((1, 1.0), (1, 0.5), (3, 9.0), (99, 5.0)), ignore_eos=True)
    assert first == Stage("logit_bias", (vocab, {1: 1.5, 3: -math.inf, 98: -math.inf, 99: -math.inf}))
    assert chain(vocab)[0] == Stage("logit_bias", (vocab, {3: -math.inf}))


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
        {"mirostat_mode": 3},
        {"mirostat_tau": math.inf},
        {"xtc_probability": 1.5},
        {"xtc_threshold": "low"},
        {"dry_allowed_length": -1},
        {"dry_penalty_last_n": -2},
        {"dynatemp_range": -0.1},
        {"adaptive_target": 1.5},
        {"adaptive_decay": 1.0},
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
