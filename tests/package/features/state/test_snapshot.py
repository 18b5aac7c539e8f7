"""The snapshot as an object: its size, pickles in both directions, and what is refused before native code sees it."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from llama_cpp import llama
from llama_cpp._features.errors import StateMismatchError
from llama_cpp._features.state.snapshot import LlamaState
from llama_cpp._features.state.validation import Expectation, require_fitting

TOLD = {"model": "a", "n_ctx": 8, "version": "1"}


def state(**changes: Any) -> LlamaState:
    fields: dict[str, Any] = {
        "input_ids": np.array([1, 2, 3], np.intc),
        "scores": np.zeros((0, 4), np.single),
        "n_tokens": 3,
        "llama_state": b"native",
        "llama_state_size": 6,
        "seed": 1,
        "last_logits": np.zeros(4, np.single),
        "compatibility": dict(TOLD),
    }
    return LlamaState(**{**fields, **changes})


def due(*, keeps_scores: bool = False) -> Expectation:
    return Expectation(capacity=8, n_vocab=4, keeps_scores=keeps_scores, compatibility=TOLD)


def test_the_size_is_that_of_arrays_and_bytes() -> None:
    assert state().nbytes == 3 * 4 + 0 + 6 + 4 * 4
    assert state(last_logits=None).nbytes == 3 * 4 + 6


def test_positional_arguments_are_those_of_former_versions() -> None:
    made = LlamaState(np.zeros(3, np.intc), np.zeros((0, 4), np.single), 3, b"x", 1, 7)
    assert (made.seed, made.last_logits, made.compatibility) == (7, None, None)


def test_pickles_go_both_ways() -> None:
    found = pickle.loads(pickle.dumps(state()))  # noqa: S301 - our own
    assert type(found) is LlamaState is llama.LlamaState
    assert found.__dict__.keys() == state().__dict__.keys()
    assert b"llama_cpp.llama" in pickle.dumps(state(), 0)


def test_old_pickles_lack_two_fields() -> None:
    made = LlamaState.__new__(LlamaState)
    old = {name: value for name, value in state().__dict__.items() if name not in {"last_logits", "compatibility"}}
    made.__setstate__(old)
    assert (made.last_logits, made.compatibility, made.n_tokens) == (None, None, 3)
    require_fitting(made, due())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"llama_state": "text"}, "str, not bytes"),
        ({"llama_state_size": 7}, "has 6 bytes, and the size says 7"),
        ({"llama_state": b"", "llama_state_size": 0}, "is empty"),
        ({"input_ids": np.zeros((3, 1), np.intc)}, "not a row of integers"),
        ({"input_ids": np.zeros(3)}, "not a row of integers"),
        ({"n_tokens": 4}, "has 3 tokens, and n_tokens says 4"),
        ({"n_tokens": -1}, "n_tokens says -1"),
        ({"n_tokens": 1.5}, "n_tokens says 1.5"),
        ({"n_tokens": 9, "input_ids": np.zeros(9, np.intc)}, "more than the 8 of this context"),
        ({"input_ids": np.array([1, 2, 4])}, "not in this vocabulary of 4"),
        ({"input_ids": np.array([-1, 2, 3])}, "not in this vocabulary"),
        ({"last_logits": np.zeros(5)}, "last_logits have shape"),
        ({"scores": np.zeros((3, 5))}, "scores have shape"),
        ({"scores": np.zeros(5)}, "scores have shape"),
        ({"compatibility": 3}, "not a mapping"),
        ({"compatibility": {**TOLD, "model": "b"}}, "model is b in the state and a here"),
        ({"compatibility": {"model": "a", "version": "1"}}, "n_ctx is not told in the state and 8 here"),
        ({"compatibility": {**TOLD, "version": "0"}}, "version is 0 in the state and 1 here"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(StateMismatchError, match=message) as failure:
        require_fitting(state(**changes), due())
    assert isinstance(failure.value, ValueError)


def test_what_fits() -> None:
    require_fitting(state(), due())
    require_fitting(state(compatibility=None), due())
    require_fitting(state(input_ids=np.zeros(100, np.intc)), due())


def test_where_every_tokens_logits_are_kept_the_state_has_to_have_them() -> None:
    require_fitting(state(scores=np.zeros((3, 4), np.single)), due(keeps_scores=True))
    with pytest.raises(StateMismatchError, match="logits_all"):
        require_fitting(state(), due(keeps_scores=True))


def test_other_objects_are_no_states() -> None:
    with pytest.raises(TypeError, match="a LlamaState is needed, not dict"):
        require_fitting({}, due())  # type: ignore[arg-type]
