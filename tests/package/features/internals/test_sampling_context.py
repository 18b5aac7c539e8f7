from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from llama_cpp._features.internals.sampling_context import CommonSamplerType, LlamaSamplingContext, LlamaSamplingParams
from llama_cpp._features.sampling.parameters import SAMPLER_ORDER, SamplingParams
from llama_cpp._features.sampling.seeds import RANDOM_SEED

NAMES = {
    "temp": "temperature",
    "penalty_repeat": "repeat_penalty",
    "penalty_freq": "frequency_penalty",
    "penalty_present": "presence_penalty",
    "mirostat": "mirostat_mode",
}
OWN = {
    "n_prev", "samplers", "grammar", "grammar_lazy", "custom", "reasoning_budget", "reasoning_start", "reasoning_end",
    "reasoning_budget_message", "reasoning_start_in_prompt", "reasoning_start_max_tokens",
}  # fmt: skip


def test_the_defaults_are_those_of_a_completion() -> None:
    assert LlamaSamplingParams().chosen() == SamplingParams(order=tuple(name for name in SAMPLER_ORDER if name != "infill"))


@pytest.mark.parametrize("name", sorted({each.name for each in fields(LlamaSamplingParams)} - OWN))
def test_every_field_arrives(name: str) -> None:
    other: dict[str, Any] = {
        "dry_sequence_breakers": ("x",),
        "logit_bias": {4: -1.0},
        "ignore_eos": True,
        "seed": 5,
        "mirostat": 2,
        "min_keep": 3,
    }
    value = other.get(name, 0.25 if isinstance(getattr(LlamaSamplingParams(), name), float) else 7)
    arrived = getattr(LlamaSamplingParams(**{name: value}).chosen(), NAMES.get(name, name))
    assert arrived == (((4, -1.0),) if name == "logit_bias" else value)
    assert arrived != getattr(SamplingParams(), NAMES.get(name, name))


def test_the_seed_that_stands_for_a_new_one() -> None:
    assert LlamaSamplingParams(seed=RANDOM_SEED).chosen().seed is None
    assert LlamaSamplingParams(seed=0).chosen().seed == 0


def test_samplers_take_part_in_their_order() -> None:
    chosen = LlamaSamplingParams(samplers=(CommonSamplerType.TEMPERATURE, CommonSamplerType.NONE, CommonSamplerType.TYPICAL_P)).chosen()
    assert (chosen.order, chosen.infill) == (("temperature", "typ_p"), False)
    assert LlamaSamplingParams(samplers=(CommonSamplerType.INFILL,)).chosen().infill


@pytest.mark.parametrize("values", [{"temp": "hot"}, {"penalty_repeat": 0}, {"mirostat": 9}, {"reasoning_budget": -5}])
def test_values_that_make_no_sense(values: dict[str, Any]) -> None:
    params = LlamaSamplingParams(**values)
    with pytest.raises(ValueError, match=r"\w"):
        (params.chosen(), params.limit())


def test_nothing_was_accepted_yet() -> None:
    context = LlamaSamplingContext(LlamaSamplingParams(n_prev=2))
    assert context.last() is None
    assert not context.force_reasoning_budget()
    context.prev.extend([1, 2, 3])
    assert (list(context.prev), context.last(), list(context.cp().prev)) == ([2, 3], 3, [2, 3])
    context.reset()
    context.close()
    assert context.last() is None
