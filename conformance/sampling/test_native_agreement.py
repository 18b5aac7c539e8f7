"""What `Llama` draws is what llama.cpp's own samplers draw from the same logits with the same seed, however it is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

import llama_cpp

if TYPE_CHECKING:
    from llama_cpp import Llama

PROMPT = b"One two three. One two three. One two three. One"
STEPS = 24
SEED = 11


def native(samplers: Sequence[Any]) -> Any:
    chain = llama_cpp.llama_sampler_chain_init(llama_cpp.llama_sampler_chain_default_params())
    for sampler in samplers:
        llama_cpp.llama_sampler_chain_add(chain, sampler)
    return chain


def default_filters(temperature: float = 0.8) -> list[Any]:
    return [
        llama_cpp.llama_sampler_init_top_k(40),
        llama_cpp.llama_sampler_init_top_p(0.95, 0),
        llama_cpp.llama_sampler_init_min_p(0.05, 0),
        llama_cpp.llama_sampler_init_temp(temperature),
        llama_cpp.llama_sampler_init_dist(SEED),
    ]


def penalties(model: Llama, repeat: float, frequency: float = 0.0) -> Any:
    return llama_cpp.llama_sampler_init_penalties(model.n_vocab(), 64, repeat, frequency, 0.0)


CASES: dict[str, tuple[dict[str, Any], Any]] = {
    "greedy": ({"temp": 0.0}, lambda _model: [llama_cpp.llama_sampler_init_greedy()]),
    "default": ({}, lambda _model: default_filters()),
    "repeat": ({"repeat_penalty": 1.3}, lambda model: [penalties(model, 1.3), *default_filters()]),
    "frequency": ({"frequency_penalty": 0.7}, lambda model: [penalties(model, 1.0, 0.7), *default_filters()]),
    "rewarded": ({"frequency_penalty": -0.7}, lambda model: [penalties(model, 1.0, -0.7), *default_filters()]),
    "repeat, greedy": (
        {"repeat_penalty": 1.3, "temp": 0.0},
        lambda model: [penalties(model, 1.3), llama_cpp.llama_sampler_init_greedy()],
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_same_tokens_are_drawn(shared_text_model: Llama, case: tuple[dict[str, Any], Any]) -> None:
    model, (settings, samplers) = shared_text_model, case
    prompt = model.tokenize(PROMPT)
    chain = native(samplers(model))
    try:
        for token in prompt:
            llama_cpp.llama_sampler_accept(chain, token)
        expected, drawn = [], []
        for token in model.generate(prompt, seed=SEED, **settings):
            expected.append(llama_cpp.llama_sampler_sample(chain, model.ctx, -1))
            drawn.append(token)
            if len(drawn) == STEPS:
                break
    finally:
        llama_cpp.llama_sampler_free(chain)
    assert drawn == expected
