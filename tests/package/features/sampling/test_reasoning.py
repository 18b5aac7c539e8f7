"""The limit on thinking, over a vocabulary of single bytes with marks as tokens of their own or spelled out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._features.sampling.reasoning import ReasoningBudget, ReasoningLimit, ReasoningState

START, END = 256, 257


class Bytes:
    """A token per byte, and one per mark where `marks`."""

    def __init__(self, *, marks: bool) -> None:
        self.marks = marks

    def piece(self, token: int, *, special: bool) -> bytes:
        assert special
        return {START: b"<think>", END: b"</think>"}.get(token) or bytes([token])

    def tokenize(self, text: str, *, add_special: bool, parse_special: bool = False) -> list[int]:
        assert not add_special
        return [END] if self.marks and parse_special and text == "</think>" else list(text.encode())


def run(text: bytes | list[int], *, marks: bool = True, tokens: int = 60, **limit: Any) -> tuple[bytes, ReasoningBudget]:
    """What comes of a model that wants to write `text`, and goes on with it after what it was forced to write."""
    vocab: Any = Bytes(marks=marks)
    budget = ReasoningBudget(ReasoningLimit(**limit), vocab)
    wanted, written = list(text), b""
    for _ in range(tokens):
        token = budget.forced()
        if token is None:
            if not wanted:
                break
            token = wanted.pop(0)
        budget.accept(token)
        written += vocab.piece(token, special=True)
    return written, budget


@pytest.mark.parametrize("marks", [True, False])
def test_the_end_is_written_when_the_budget_is_used_up(marks: bool) -> None:
    text = ([START] if marks else list(b"<think>")) + list(b"abcdef")
    written, budget = run(text, marks=marks, budget=3)
    assert written == b"<think>abc</think>def"
    assert budget.state is ReasoningState.DONE


def test_a_message_comes_before_the_end() -> None:
    assert run(b"abcd", budget=2, start_in_prompt=True, message=" enough ")[0] == b"ab enough </think>cd"


def test_a_budget_of_nothing_ends_at_once() -> None:
    assert run([START, *b"ab"], budget=0)[0] == b"<think></think>ab"
    assert run(b"ab", budget=0, start_in_prompt=True)[0] == b"</think>ab"


def test_thinking_that_ends_in_time_is_left_alone() -> None:
    assert run([START, *b"ab", END, *b"cdefgh"], budget=3)[0] == b"<think>ab</think>cdefgh"
    assert run(b"ab</think>cdefgh", marks=False, budget=10, start_in_prompt=True)[0] == b"ab</think>cdefgh"


def test_without_a_start_in_time_nothing_is_limited() -> None:
    assert run([*b"abcd", START, *b"efgh"], budget=1, start_max_tokens=4)[0] == b"abcd<think>efgh"
    assert run([*b"abc", START, *b"efgh"], budget=1, start_max_tokens=4)[0] == b"abc<think>e</think>fgh"


@given(st.text(min_size=1, max_size=12), st.integers(0, 20))
def test_no_character_is_torn(text: str, budget: int) -> None:
    written, _ = run(text.encode(), tokens=200, budget=budget, start_in_prompt=True)
    before, mark, after = written.partition(b"</think>")
    assert before.decode() + after.decode() == text
    assert bool(mark) == (len(text.encode()) >= budget)


def test_forcing_on_request() -> None:
    vocab: Any = Bytes(marks=True)
    budget = ReasoningBudget(ReasoningLimit(budget=100, start_in_prompt=True), vocab)
    budget.force()
    assert budget.forced() == END
    budget.accept(END)
    assert budget.state is ReasoningState.DONE
    budget.force()
    assert budget.forced() is None


@pytest.mark.parametrize(
    "changes", [{"budget": -2}, {"budget": 1.5}, {"budget": True}, {"start": ""}, {"end": None}, {"message": 5}, {"start_max_tokens": "x"}]
)
def test_values_that_make_no_sense(changes: Any) -> None:
    with pytest.raises(ValueError, match="reasoning_"):
        ReasoningLimit(**changes)
