"""Each sampling parameter moves the distribution as documented: what may be drawn is computed beside it, in numpy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from llama_cpp import Llama

# Every filter off, and the temperature that changes nothing.
OFF: dict[str, Any] = {"temp": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "typical_p": 1.0}
DRAWS = 300


@pytest.fixture
def evaluated(synthetic: Llama) -> Llama:
    """A model that has just evaluated a few tokens."""
    synthetic.eval(synthetic.tokenize(b"one two three two"))
    return synthetic


def logits(model: Llama) -> NDArray[np.float64]:
    return model.scores[-1].astype(np.float64)


def softmax(values: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(values - values.max())
    return np.asarray(weights / weights.sum())


def draws(model: Llama, count: int = DRAWS, **changes: Any) -> list[int]:
    settings = {**OFF, **changes}
    return [model.sample(seed=seed, **settings) for seed in range(count)]


def agrees(drawn: list[int], expected: NDArray[np.float64]) -> None:
    """The most probable tokens are drawn as often as they should be, within five standard deviations."""
    for token in np.argsort(-expected)[:3]:
        p = float(expected[token])
        assert abs(drawn.count(int(token)) - len(drawn) * p) <= 5 * math.sqrt(len(drawn) * p * (1 - p)) + 1


def likeliest(model: Llama) -> list[int]:
    return [int(token) for token in np.argsort(-logits(model))]


@pytest.mark.every_processor
def test_without_parameters_tokens_come_as_the_model_has_them(evaluated: Llama) -> None:
    agrees(draws(evaluated), softmax(logits(evaluated)))


@pytest.mark.parametrize("temperature", [0.3, 2.0])
@pytest.mark.every_processor
def test_temperature_divides_the_logits(evaluated: Llama, temperature: float) -> None:
    agrees(draws(evaluated, temp=temperature), softmax(logits(evaluated) / temperature))


def test_dynamic_temperature_follows_the_entropy(evaluated: Llama) -> None:
    p = softmax(logits(evaluated))
    entropy = -(p * np.log(p)).sum() / math.log(len(p))
    temperature = 0.2 + 1.6 * entropy**2.0
    agrees(draws(evaluated, dynatemp_range=0.8, dynatemp_exponent=2.0), softmax(logits(evaluated) / temperature))


def test_temperature_zero_takes_the_likeliest(evaluated: Llama) -> None:
    assert set(draws(evaluated, 5, temp=0.0)) == {likeliest(evaluated)[0]}


@pytest.mark.every_processor
def test_top_k(evaluated: Llama) -> None:
    assert set(draws(evaluated, top_k=3)) == set(likeliest(evaluated)[:3])


@pytest.mark.every_processor
def test_top_p(evaluated: Llama) -> None:
    p = softmax(logits(evaluated))
    order = likeliest(evaluated)
    kept = int(np.searchsorted(np.cumsum(p[order]), 0.3)) + 1
    assert set(draws(evaluated, top_p=0.3)) <= set(order[:kept])
    assert len(set(draws(evaluated, top_p=0.3))) > 1


def test_min_p(evaluated: Llama) -> None:
    p = softmax(logits(evaluated))
    assert all(p[token] >= 0.5 * p.max() * (1 - 1e-5) for token in draws(evaluated, min_p=0.5))


def test_typical(evaluated: Llama) -> None:
    p = softmax(logits(evaluated))
    entropy = -(p * np.log(p)).sum()
    order = np.argsort(np.abs(-np.log(p) - entropy), kind="stable")
    kept = int(np.searchsorted(np.cumsum(p[order]), 0.2)) + 1
    assert set(draws(evaluated, typical_p=0.2)) <= {int(token) for token in order[: kept + 1]}


def test_top_n_sigma(evaluated: Llama) -> None:
    values = logits(evaluated)
    allowed = values >= values.max() - 0.5 * values.std() - 1e-4
    assert all(allowed[token] for token in draws(evaluated, top_n_sigma=0.5))


def test_min_keep(evaluated: Llama) -> None:
    assert set(draws(evaluated, 20, top_p=1e-6)) == {likeliest(evaluated)[0]}
    found = set(draws(evaluated, top_p=1e-6, min_keep=4))
    assert found <= set(likeliest(evaluated)[:4])
    assert len(found) > 1


def test_xtc_excludes_all_but_the_least_likely_of_the_top(evaluated: Llama) -> None:
    p = softmax(logits(evaluated))
    order = likeliest(evaluated)
    threshold = float((p[order[3]] + p[order[4]]) / 2)
    assert not set(order[:3]) & set(draws(evaluated, xtc_probability=1.0, xtc_threshold=threshold))
    assert set(order[:3]) & set(draws(evaluated, xtc_probability=0.5, xtc_threshold=threshold))


@pytest.mark.parametrize(
    "penalties",
    [
        {"repeat_penalty": 1.9},
        {"frequency_penalty": 0.9},
        {"present_penalty": 1.1},
        {"presence_penalty": 1.1},
        {"repeat_penalty": 1.3, "frequency_penalty": 0.4, "present_penalty": 0.2},
    ],
)
@pytest.mark.parametrize("window", [-1, 3, 0])
def test_penalties_see_the_prompt(evaluated: Llama, penalties: dict[str, float], window: int) -> None:
    held = [int(token) for token in evaluated.input_ids[: evaluated.n_tokens]]
    seen = held[-window:] if window > 0 else held if window else []
    repeat = penalties.get("repeat_penalty", 1.0)
    values = logits(evaluated)
    lifted = {token: float(values.max()) for token in set(held)}  # so that what was seen is what would be chosen
    for token, lift in lifted.items():
        values[token] += lift
    for token in set(seen):
        values[token] = values[token] / repeat if values[token] > 0 else values[token] * repeat
        values[token] -= seen.count(token) * penalties.get("frequency_penalty", 0.0)
        values[token] -= penalties.get("present_penalty", 0.0) + penalties.get("presence_penalty", 0.0)
    chosen = evaluated.sample(**{**OFF, "temp": 0.0}, logit_bias=lifted, penalty_last_n=window, **penalties)
    assert chosen == int(np.argmax(values))


def test_dry_refuses_what_would_go_on_with_a_repetition(synthetic: Llama) -> None:
    sequence = synthetic.tokenize(b"abcdefgh", add_bos=False)
    synthetic.eval([*sequence, *sequence[:-1]])
    wanted = {sequence[-1]: 100.0}
    greedy = {**OFF, "temp": 0.0}
    assert synthetic.sample(logit_bias=wanted, **greedy) == sequence[-1]
    assert synthetic.sample(logit_bias=wanted, dry_multiplier=100.0, **greedy) != sequence[-1]
    assert synthetic.sample(logit_bias=wanted, dry_multiplier=100.0, dry_penalty_last_n=0, **greedy) == sequence[-1]
    assert synthetic.sample(logit_bias=wanted, dry_multiplier=100.0, dry_allowed_length=50, **greedy) == sequence[-1]


def test_a_bias_lifts_and_forbids(evaluated: Llama) -> None:
    last, first = likeliest(evaluated)[-1], likeliest(evaluated)[0]
    assert set(draws(evaluated, 20, logit_bias={last: 100.0})) == {last}
    assert first not in draws(evaluated, logit_bias={first: -math.inf})


def test_ignore_eos_forbids_the_end(evaluated: Llama) -> None:
    end = evaluated.token_eos()
    assert end in draws(evaluated, 20, logit_bias={end: 50.0})
    assert end not in draws(evaluated, 50, logit_bias={end: 50.0}, ignore_eos=True)


@pytest.mark.parametrize("mode", [1, 2])
def test_mirostat_holds_the_surprise(synthetic: Llama, mode: int) -> None:
    def surprise(tau: float) -> float:
        settings = {"mirostat_mode": mode, "mirostat_tau": tau, "temperature": 1.0, "ignore_eos": True}
        completion = synthetic.create_completion("one", max_tokens=200, logprobs=0, seed=5, **settings)
        return -float(np.mean(completion["choices"][0]["logprobs"]["token_logprobs"]))

    assert surprise(0.5) + 0.5 < surprise(6.0)


def test_adaptive_p_aims_at_a_probability(synthetic: Llama) -> None:
    def probability(target: float) -> float:
        completion = synthetic.create_completion(
            "one", max_tokens=80, logprobs=0, seed=5, adaptive_target=target, top_k=0, top_p=1.0, min_p=0.0, temperature=0.5
        )
        return float(np.mean(np.exp(completion["choices"][0]["logprobs"]["token_logprobs"])))

    assert probability(0.02) < probability(0.9)


@pytest.mark.every_processor
def test_seeds(evaluated: Llama) -> None:
    assert draws(evaluated, 30) == draws(evaluated, 30)
    assert len({evaluated.sample(**OFF) for _ in range(30)}) > 1


def test_values_that_make_no_sense_are_refused(evaluated: Llama) -> None:
    for wrong in ({"mirostat_mode": 3}, {"top_k": 1.5}, {"repeat_penalty": 0}, {"xtc_probability": 2.0}, {"logit_bias": {10**6: 1.0}}):
        with pytest.raises(ValueError):  # noqa: PT011 - each has words of its own
            evaluated.sample(**wrong)
