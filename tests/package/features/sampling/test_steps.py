"""One token after the other with callbacks: their order, what they see, and what they may answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from llama_cpp._features.sampling.logprobs import LogprobRecorder, logits_to_logprobs
from llama_cpp._features.sampling.steps import END, Participants, Steps


class Context:
    def __init__(self) -> None:
        self.row = np.arange(8, dtype=np.float32)

    def logits(self, index: int) -> Any:
        assert index == -1
        return self.row


class Chain:
    """Greedy choice over what the context's row is now."""

    def __init__(self) -> None:
        self.accepted: list[int] = []
        self.told: list[int] = []  # what grammars would know of
        self.reminded: list[int] = []

    def sample(self, context: Any, index: int, *, filters: bool = True) -> int:
        token = int(np.argmax(context.logits(index)))
        self.accept(token, filters=filters)
        return token

    def accept(self, token: int, *, filters: bool = True) -> None:
        self.accepted.append(token)
        self.told += [token] * filters

    def remind(self, tokens: list[int]) -> None:
        self.reminded += tokens


def steps(processors: Any = (), criteria: Any = (), **changes: Any) -> Steps:
    participants = Participants(processors=tuple(processors), criteria=tuple(criteria))
    return Steps(Context(), Chain(), lambda: np.array([1, 2], np.intc), participants, **changes)  # type: ignore[arg-type]


def test_processors_work_in_turn_in_place_or_by_what_they_return() -> None:
    def in_place(ids: Any, scores: Any) -> Any:
        assert ids.tolist() == [1, 2]
        scores[7] = -np.inf
        return scores

    def anew(ids: Any, scores: Any) -> Any:  # noqa: ARG001
        assert scores[7] == -np.inf
        return [5.0 if index == 2 else 0.0 for index in range(8)]

    assert steps(processors=[in_place])() == 6
    assert steps(processors=[in_place, anew])() == 2


@pytest.mark.parametrize(
    ("answer", "message"),
    [(np.zeros(5), "shape"), (np.full(8, -np.inf), "no token"), (np.full(8, np.nan), "NaN"), (np.full(8, np.inf), "no token")],
)
def test_answers_that_leave_no_choice_are_errors(answer: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        steps(processors=[lambda *_: answer])()


def test_what_a_callback_raises_goes_to_the_caller() -> None:
    def broken(*_: Any) -> Any:
        raise LookupError("mine")

    for callbacks in ({"processors": [broken]}, {"criteria": [broken]}):
        with pytest.raises(LookupError, match="mine"):
            steps(**callbacks)()


def test_a_criterion_ends_before_anything_is_chosen() -> None:
    ending = steps(criteria=[lambda *_: False, lambda *_: True])
    assert ending() == END
    assert ending.ended
    going_on = steps(criteria=[lambda *_: False])
    assert going_on() == 7
    assert not going_on.ended


def test_log_probabilities_are_the_models_and_not_the_processors() -> None:
    def forbid(ids: Any, scores: Any) -> Any:  # noqa: ARG001
        scores[7] = -np.inf
        return scores

    recorder = LogprobRecorder(2, 8)
    assert steps(processors=[forbid], recorder=recorder)() == 6
    expected = logits_to_logprobs(np.arange(8, dtype=np.float32))
    latest = recorder.latest
    assert latest is not None
    assert latest.token == 6
    assert latest.logprob == pytest.approx(float(expected[6]), abs=1e-5)
    assert latest.top == ((7, pytest.approx(float(expected[7]), abs=1e-5)), (6, pytest.approx(float(expected[6]), abs=1e-5)))


@pytest.mark.parametrize("top", [0, 1, 8, 50])
def test_any_number_of_the_likeliest_is_answered_in_order(top: int) -> None:
    logits = np.array([0.5, 3.0, -2.0, 3.0, 1.0, 0.0, -1.0, 2.0], np.float32)
    found = LogprobRecorder(top, len(logits)).read(logits, 4).top
    assert [token for token, _ in found] == [1, 3, 7, 4, 0, 5, 6, 2][:top]


@pytest.mark.parametrize("equal", [False, True])
def test_the_likeliest_of_many_are_found(equal: bool) -> None:
    logits = np.random.default_rng(3).normal(size=5000).astype(np.float32)
    if equal:
        logits[100:4000] = logits.max()
    expected = logits_to_logprobs(logits)
    read = LogprobRecorder(5, len(logits)).read(logits, 7)
    assert [token for token, _ in read.top] == np.argsort(-logits, kind="stable")[:5].tolist()
    assert [logprob for _, logprob in read.top] == pytest.approx([float(expected[token]) for token, _ in read.top], abs=1e-5)
    assert read.logprob == pytest.approx(float(expected[7]), abs=1e-5)


class Forcer:
    end_tokens = (3,)

    def __init__(self, tokens: list[int | None], thinking_until: int = 0) -> None:
        self.tokens = tokens
        self.thinking_until = thinking_until
        self.seen: list[int] = []

    @property
    def thinking(self) -> bool:
        return len(self.seen) < self.thinking_until

    def forced(self) -> int | None:
        return self.tokens.pop(0)

    def accept(self, token: int) -> None:
        self.seen.append(token)


def test_a_forced_token_is_not_sampled_but_accepted() -> None:
    forcer = Forcer([None, 3, None])
    made = steps(forcer=forcer)
    assert [made(), made(), made()] == [7, 3, 7]
    assert forcer.seen == [7, 3, 7]


def test_grammars_learn_of_thinking_only_that_it_ended() -> None:
    forcer = Forcer([None, 3, None], thinking_until=2)
    made: Any = steps(forcer=forcer)
    assert [made(), made(), made()] == [7, 3, 7]
    chain = made._chain
    assert (chain.accepted, chain.told, chain.reminded) == ([7, 3, 7], [7], [3])
