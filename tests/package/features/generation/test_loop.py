"""The generation loop over a fake context: what it evaluates, and how it survives being disturbed."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from llama_cpp._engine.errors import ComputeError
from llama_cpp._features.generation.live import as_tokens
from llama_cpp._features.generation.loop import generate
from tests.package.features.fakes import abort_at, fake_runtime, next_token

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence


def run(runtime: Any, *prompt: int) -> Generator[int, Sequence[int] | None, None]:
    turn = runtime.turns.take()
    try:
        yield from generate(runtime.live, runtime.turns, turn, runtime.context.sample, as_tokens(prompt))
    finally:
        turn.end()


def expected(prompt: Sequence[int], count: int) -> list[int]:
    tokens = list(prompt)
    for _ in range(count):
        tokens.append(next_token(tokens))
    return tokens[len(prompt) :]


def take(tokens: Generator[int, Sequence[int] | None, None], count: int) -> list[int]:
    return [next(tokens) for _ in range(count)]


def test_each_token_follows_from_all_before_it() -> None:
    with closing(run(fake_runtime(), 1, 2, 3)) as tokens:
        assert take(tokens, 10) == expected([1, 2, 3], 10)


def test_the_last_token_is_not_evaluated() -> None:
    runtime = fake_runtime()
    with closing(run(runtime, 1, 2, 3)) as tokens:
        take(tokens, 4)
    assert runtime.live.evaluated == 3 + 3


def test_a_second_request_reuses_what_the_first_left() -> None:
    runtime = fake_runtime()
    with closing(run(runtime, 1, 2, 3)) as tokens:
        answer = take(tokens, 4)
    before = runtime.live.evaluated
    with closing(run(runtime, 1, 2, 3, *answer, 8)) as tokens:
        assert take(tokens, 2) == expected([1, 2, 3, *answer, 8], 2)
    assert runtime.live.evaluated - before == 2 + 1  # the last answer token, the new one, and one step


def test_it_ends_when_the_context_is_full() -> None:
    runtime = fake_runtime(n_ctx=8)
    assert list(run(runtime, 1, 2, 3)) == expected([1, 2, 3], 6)
    assert runtime.live.length == 8


def test_tokens_sent_in_are_appended() -> None:
    with closing(run(fake_runtime(), 1, 2)) as tokens:
        first = next(tokens)
        assert tokens.send([5, 6]) == next_token([1, 2, first, 5, 6])


@pytest.mark.parametrize("recurrent", [False, True])
def test_two_interleaved_streams_do_not_disturb_each_other(recurrent: bool) -> None:
    runtime = fake_runtime(is_recurrent=recurrent)
    with closing(run(runtime, 1, 2, 3)) as one, closing(run(runtime, 1, 9)) as other:
        pairs = [(next(one), next(other)) for _ in range(5)]
    assert [pair[0] for pair in pairs] == expected([1, 2, 3], 5)
    assert [pair[1] for pair in pairs] == expected([1, 9], 5)


def test_an_abort_between_steps_ends_it_and_leaves_memory_right() -> None:
    runtime = fake_runtime()
    with closing(run(runtime, 1, 2, 3)) as tokens:
        take(tokens, 2)
        runtime.turns.abort()
        assert list(tokens) == []
    assert runtime.live.tokens.tolist() == runtime.context.cells
    with closing(run(runtime, 1, 2, 3)) as tokens:
        assert take(tokens, 3) == expected([1, 2, 3], 3)


def test_an_abort_within_an_evaluation_ends_it_and_leaves_memory_right() -> None:
    runtime = fake_runtime()
    abort_at(runtime.context, call=3)
    assert len(list(run(runtime, 1, 2, 3))) == 2
    assert runtime.live.tokens.tolist() == runtime.context.cells
    runtime.context.before_decode = lambda _: None
    with closing(run(runtime, 1, 2, 3)) as tokens:
        assert take(tokens, 3) == expected([1, 2, 3], 3)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ComputeError("failed", code=-3), ValueError("a callback's")])
def test_other_failures_pass_and_the_next_request_is_right(error: BaseException) -> None:
    runtime = fake_runtime()
    count = iter(range(100))

    def fail(tokens: list[int]) -> None:
        if next(count) == 3:
            runtime.context.cells += tokens  # evaluated, but the ledger never heard of it
            raise error

    runtime.context.before_decode = fail
    with pytest.raises(type(error)):
        list(run(runtime, 1, 2, 3))
    assert runtime.live.tokens.tolist() == runtime.context.cells
    runtime.context.before_decode = lambda _: None
    with closing(run(runtime, 1, 2, 3)) as tokens:
        assert take(tokens, 5) == expected([1, 2, 3], 5)
