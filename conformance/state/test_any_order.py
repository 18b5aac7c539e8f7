"""Whatever a program does with a `Llama`, in any order: what comes next is what a fresh context would give."""

from __future__ import annotations

import contextlib
import functools
import itertools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from rig import profiles
from rig.memories import MEMORIES, REAL, Memory, assert_same, logits_from_scratch, tokens

from llama_cpp import Llama, LlamaRAMCache, LlamaState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LONGEST = 420
PROMPTS = st.builds(
    lambda length, seed, tail: [*tokens(length), *tokens(tail, seed=seed)],
    length=st.integers(1, LONGEST),
    seed=st.integers(1, 2),
    tail=st.integers(0, 20),
)
FEW = st.integers(1, 4)


class AnyOrder(RuleBasedStateMachine):
    """`held` is what the context should hold; None when something else was done to its memory."""

    def __init__(self, memory: Memory, subject: Llama, fresh: Llama, known: dict[tuple[int, ...], NDArray[np.float32]]) -> None:
        super().__init__()
        self.memory, self.subject, self.fresh, self.known = memory, subject, fresh, known
        self.held: list[int] | None = []
        self.states: list[tuple[LlamaState, list[int]]] = []

    def due(self, prompt: Sequence[int]) -> NDArray[np.float32]:
        key = tuple(prompt)
        if key not in self.known:
            self.known[key] = logits_from_scratch(self.fresh, prompt).copy()
        return self.known[key]

    def check(self, found: Any, prompt: Sequence[int]) -> None:
        assert_same(found, self.due(prompt), self.memory.tolerance)

    def check_greedy(self, prompt: list[int], produced: list[int]) -> None:
        """Each token is the likeliest after those before it, or as likely within the tolerance."""
        for place, token in enumerate(produced):
            row = self.due([*prompt, *produced[:place]])
            assert row[token] >= row.max() - 2 * self.memory.tolerance

    def see(self) -> None:
        self.held = self.subject.input_ids[: self.subject.n_tokens].tolist()

    @initialize(cached=st.booleans())
    def begin(self, cached: bool) -> None:
        self.subject.reset()
        self.subject.set_cache(LlamaRAMCache(1 << 22) if cached else None)

    @rule(prompt=PROMPTS)
    def prefill(self, prompt: list[int]) -> None:
        result = self.subject.prefill(prompt)
        assert 1 <= result.n_evaluated <= len(prompt)
        self.held = list(prompt)
        self.check(result.logits, prompt)

    @rule(prompt=PROMPTS, count=FEW)
    def generate(self, prompt: list[int], count: int) -> None:
        produced = list(itertools.islice(self.subject.generate(prompt, temp=0.0), count))
        self.see()
        assert self.held == [*prompt, *produced[:-1]]
        self.check_greedy(prompt, produced)

    @rule(prompt=PROMPTS, count=FEW)
    def complete(self, prompt: list[int], count: int) -> None:
        self.subject.create_completion(prompt, max_tokens=count, temperature=0.0)
        self.see()
        assert self.held is not None
        assert self.held[: len(prompt)] == prompt
        self.check_greedy(prompt, self.held[len(prompt) :])

    @rule(prompt=PROMPTS, count=FEW)
    def abort(self, prompt: list[int], count: int) -> None:
        stream = self.subject.generate(prompt, temp=0.0)
        produced = list(itertools.islice(stream, count))
        self.subject.abort()
        assert next(stream, None) is None
        self.see()
        self.check_greedy(prompt, produced)

    @precondition(lambda self: self.held is not None and len(self.held) < LONGEST)
    @rule(count=st.integers(1, 40), seed=st.integers(1, 2))
    def extend(self, count: int, seed: int) -> None:
        assert self.held is not None
        more = tokens(count, seed=seed)
        self.subject.eval(more)
        self.held += more
        self.check(self.subject.scores[-1], self.held)

    @rule()
    def reset(self) -> None:
        self.subject.reset()
        self.held = []

    @precondition(lambda self: self.held is not None)
    @rule()
    def save(self) -> None:
        assert self.held is not None
        self.states.append((self.subject.save_state(), list(self.held)))

    @precondition(lambda self: self.states)
    @rule(data=st.data(), through_a_file=st.booleans())
    def load(self, data: st.DataObject, through_a_file: bool) -> None:
        state, held = data.draw(st.sampled_from(self.states), label="state")
        self.subject.load_state(state)
        if through_a_file:
            with tempfile.TemporaryDirectory() as folder:
                self.subject.save_state_file(Path(folder, "a.state"))
                self.subject.reset()
                self.subject.load_state_file(Path(folder, "a.state"))
        self.see()
        assert self.held == held
        if state.last_logits is not None:
            self.check(self.subject.scores[-1], held)
            self.check_greedy(held, [self.subject.sample(temp=0.0)])

    @rule()
    def load_a_damaged_one(self) -> None:
        state = self.subject.save_state()
        state.llama_state_size -= 1
        with contextlib.suppress(ValueError):
            self.subject.load_state(state)
            raise AssertionError("the sizes disagree")

    @precondition(lambda self: self.subject._hybrid_cache_mgr is not None and self.subject._hybrid_cache_mgr.checkpoints)
    @rule(data=st.data())
    def go_back(self, data: st.DataObject) -> None:
        """Behind the object's back: it has to notice."""
        manager = self.subject._hybrid_cache_mgr
        assert manager is not None
        checkpoint = data.draw(st.sampled_from(manager.checkpoints), label="checkpoint")
        assert manager.restore_checkpoint(checkpoint)
        assert not any(each.pos > checkpoint.pos for each in manager.checkpoints)
        self.held = None

    def teardown(self) -> None:
        self.subject.set_cache(None)


def run(memory: Memory, *, examples: int, steps: int) -> None:
    with memory.open() as subject, memory.open(ctx_checkpoints=0) as fresh:
        machine = functools.partial(AnyOrder, memory, subject, fresh, {})
        run_state_machine_as_test(machine, settings=settings(max_examples=profiles.examples(examples), stateful_step_count=steps))


@pytest.mark.parametrize("memory", MEMORIES.values(), ids=MEMORIES)
def test_any_order(memory: Memory) -> None:
    run(memory, examples=6, steps=12)


@pytest.mark.once_per_wheel
@pytest.mark.parametrize("memory", REAL.values(), ids=REAL)
def test_any_order_with_real_models(memory: Memory) -> None:
    run(memory, examples=1, steps=6)
