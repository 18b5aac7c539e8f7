"""The ledger of what memory holds: reuse of prefixes, its limits, and coming back from interruptions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._engine.errors import ComputeError, DecodeAborted
from llama_cpp._features.errors import ContextWindowError
from llama_cpp._features.generation.live import LiveSequence, as_tokens
from llama_cpp._features.generation.scores import ScoreRows
from llama_cpp._features.generation.turns import Turn, Turns
from tests.package.features.fakes import N_VOCAB, FakeContext, abort_at


def live_on(context: FakeContext, **options: Any) -> LiveSequence:
    return LiveSequence(context, **options)  # type: ignore[arg-type]


def turn() -> Turn:
    return Turns().take()


def hold(live: LiveSequence, *tokens: int) -> None:
    live.hold(as_tokens(tokens), turn())


PROMPTS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=40), min_size=1, max_size=5)


@given(PROMPTS)
def test_memory_holds_exactly_the_last_prompt_and_only_new_tokens_are_evaluated(prompts: list[list[int]]) -> None:
    context = FakeContext()
    live = live_on(context)
    before: list[int] = []
    for prompt in prompts:
        common = 0
        while common < min(len(before), len(prompt) - 1) and before[common] == prompt[common]:
            common += 1
        evaluated = live.evaluated
        hold(live, *prompt)
        assert context.cells == prompt == live.tokens.tolist()
        assert live.evaluated - evaluated == len(prompt) - common
        before = prompt


def test_an_extended_prompt_evaluates_its_new_end_only() -> None:
    context = FakeContext()
    live = live_on(context)
    hold(live, 1, 2, 3)
    hold(live, 1, 2, 3, 4, 5)
    assert context.calls == [[1, 2], [3], [4], [5]]


def test_the_same_prompt_evaluates_its_last_token_again() -> None:
    context = FakeContext()
    live = live_on(context)
    hold(live, 1, 2, 3)
    hold(live, 1, 2, 3)
    assert context.calls == [[1, 2], [3], [3]]


def test_recurrent_memory_is_extended_but_never_cut() -> None:
    context = FakeContext(is_recurrent=True)
    live = live_on(context)
    hold(live, 1, 2, 3)
    hold(live, 1, 2, 3, 4)
    hold(live, 1, 2, 9)
    assert context.calls == [[1, 2], [3], [4], [1, 2], [9]]
    assert context.cells == [1, 2, 9]


def test_a_refused_cut_evaluates_everything_again() -> None:
    context = FakeContext()
    context.memory.refuses_cuts = True
    live = live_on(context)
    hold(live, 1, 2, 3)
    hold(live, 1, 2, 9)
    assert context.calls == [[1, 2], [3], [1, 2], [9]]


@pytest.mark.parametrize(
    ("first", "keeps"),
    [(0, True), (2, True), (3, False), (5, False)],
)
def test_a_sliding_window_is_cut_only_where_it_still_holds_a_whole_window(first: int, keeps: bool) -> None:
    context = FakeContext(n_swa=4)
    context.memory.first = first
    live = live_on(context, swa_full=False)
    hold(live, 1, 2, 3, 4, 5, 6, 7, 8)
    hold(live, 1, 2, 3, 4, 5, 6, 9)  # cut at 6: right while the first held position is at most 6 - 4
    assert context.calls[2:] == ([[9]] if keeps else [[1, 2, 3, 4, 5, 6], [9]])


def test_a_window_with_room_for_all_is_cut_where_it_has_lost_nothing() -> None:
    """After a state was restored, native code writes over the first tokens although there is room."""
    context = FakeContext(n_swa=4)
    live = live_on(context, swa_full=True)
    hold(live, 1, 2, 3, 4, 5, 6, 7, 8)
    hold(live, 1, 9)
    assert context.calls[2:] == [[9]]
    hold(live, 1, 9, 3, 4, 5, 6, 7, 8)
    context.memory.first = 3
    hold(live, 1, 9, 3, 4, 9)
    assert context.calls[-2:] == [[1, 9, 3, 4], [9]]


def test_a_prompt_longer_than_the_context_is_refused_before_anything_changes() -> None:
    context = FakeContext(n_ctx=4)
    live = live_on(context)
    hold(live, 1, 2)
    with pytest.raises(ContextWindowError, match=r"Requested tokens \(5\) exceed context window of 4"):
        hold(live, 1, 2, 3, 4, 5)
    assert live.tokens.tolist() == context.cells == [1, 2]


def test_a_full_context_refuses_a_step() -> None:
    context = FakeContext(n_ctx=2)
    live = live_on(context)
    hold(live, 1, 2)
    with pytest.raises(ContextWindowError):
        live.step(3)


def test_an_aborted_prompt_keeps_what_native_code_kept() -> None:
    context = FakeContext()
    live = live_on(context)
    abort_at(context, call=0, keep=2)
    with pytest.raises(DecodeAborted) as failure:
        hold(live, 1, 2, 3, 4, 5)
    live.settle(failure.value)
    assert live.tokens.tolist() == context.cells == [1, 2]


@pytest.mark.parametrize("recurrent", [True, False])
def test_after_a_failed_computation_nothing_is_trusted(recurrent: bool) -> None:
    context = FakeContext(is_recurrent=recurrent)
    live = live_on(context)
    hold(live, 1, 2)
    live.settle(ComputeError("the computation failed (code -3)", code=-3))
    assert live.length == 0
    assert context.cells == []


def test_recurrent_memory_is_not_trusted_after_an_abort() -> None:
    context = FakeContext(is_recurrent=True)
    live = live_on(context)
    abort_at(context, call=0, keep=2)
    with pytest.raises(DecodeAborted) as failure:
        hold(live, 1, 2, 3)
    live.settle(failure.value)
    assert live.length == 0
    assert context.cells == []


def test_an_interrupt_between_evaluation_and_ledger_is_reconciled() -> None:
    context = FakeContext()
    live = live_on(context)
    hold(live, 1, 2)
    context.decode_one(3, 2)  # evaluated, and interrupted before it was written down
    live.settle(KeyboardInterrupt())
    assert live.length == 0
    hold(live, 1, 2, 4)
    assert context.cells == [1, 2, 4]


def test_an_interrupt_right_after_a_step_keeps_the_step() -> None:
    context = FakeContext()
    live = live_on(context)
    hold(live, 1, 2)

    def evaluate_and_interrupt(tokens: list[int]) -> None:
        context.cells += tokens
        raise KeyboardInterrupt

    context.before_decode = evaluate_and_interrupt
    with pytest.raises(KeyboardInterrupt):
        live.step(3)
    live.settle(KeyboardInterrupt())
    assert live.tokens.tolist() == [1, 2, 3]


def test_the_last_token_of_a_prompt_is_evaluated_alone() -> None:
    """So that the same prompt gives the same logits when it is reused: kernels for many tokens round differently."""
    context = FakeContext(n_batch=4)
    hold(live_on(context), 1, 2, 3, 4, 5, 6)
    assert context.calls == [[1, 2, 3, 4], [5], [6]]


def test_an_aborted_turn_stops_between_two_batches() -> None:
    context = FakeContext(n_batch=2)
    live = live_on(context)
    running = turn()

    def mark(tokens: list[int]) -> None:
        running.aborted = tokens == [3, 4]

    context.before_decode = mark
    live.hold(as_tokens([1, 2, 3, 4, 5, 6]), running)
    assert live.tokens.tolist() == context.cells == [1, 2, 3, 4]


def test_scores_are_recorded_by_position() -> None:
    context = FakeContext(n_batch=2)
    scores = ScoreRows(64, N_VOCAB)
    live = live_on(context, scores=scores)
    hold(live, 1, 2, 3)
    live.step(4)
    assert scores.rows[:5, 0].tolist() == [2, 2, 3, 4, 0]


def test_the_callers_tokens_are_not_kept() -> None:
    mine = np.array([1, 2, 3], np.intc)
    taken = as_tokens(mine)
    taken[0] = 9
    assert mine.tolist() == [1, 2, 3]
