"""Memory that is changed under a `Llama`, through `_ctx` or its address: the next request is as right as on an empty one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rig import material
from rig.generation import GREEDY, joined, text

from llama_cpp import Llama, llama_cpp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROMPT = "one two three four five six seven"
N_TOKENS = 6
KINDS = {
    "attention": (material.SYNTH_LLAMA, {"n_seq_max": 2, "kv_unified": True}),
    "hybrid": (material.SYNTH_LFM2, {"n_seq_max": 2}),
    "sliding window": (material.SYNTH_GEMMA3, {"n_seq_max": 2, "kv_unified": True, "swa_full": False}),
}


@pytest.fixture(scope="module", params=KINDS)
def opened(request: pytest.FixtureRequest) -> Iterator[Llama]:
    variable, options = KINDS[request.param]
    with Llama(str(material.model(variable)), n_ctx=512, n_batch=64, n_threads=1, n_threads_batch=1, verbose=False, **options) as made:
        yield made


def answer(llama: Llama) -> str:
    return text(llama.create_completion(PROMPT, max_tokens=N_TOKENS, ignore_eos=True, **GREEDY))


def decode(llama: Llama, count: int, seq_id: int) -> None:
    """Evaluate tokens behind what a sequence holds, by hand."""
    batch, start = llama._batch, llama._ctx.memory_seq_pos_max(seq_id) + 1
    batch.reset()
    for place in range(count):
        batch.add_token(7 + place, start + place, [seq_id], place == count - 1)
    llama._ctx.decode(batch)


def remove_by_address(llama: Llama, start: int, end: int) -> None:
    llama_cpp.llama_memory_seq_rm(llama_cpp.llama_get_memory(llama.ctx), 0, start, end)


def restored(llama: Llama) -> None:
    saved = llama._ctx.get_state_seq_data(seq_id=0)
    llama._ctx.memory_clear()
    llama._ctx.set_state_seq_data(saved, None, 0)


def replaced(llama: Llama) -> None:
    decode(llama, 3, 1)
    llama._ctx.memory_seq_rm(0, -1, -1)
    llama._ctx.memory_seq_cp(1, 0, -1, -1)


def shifted(llama: Llama) -> None:
    if llama._ctx.memory_can_shift():
        llama._ctx.kv_cache_seq_shift(0, 0, -1, 3)


CHANGES: dict[str, Callable[[Llama, int], Any]] = {
    "clear": lambda llama, _: llama._ctx.kv_cache_clear(),
    "cut": lambda llama, at: llama._ctx.memory_seq_rm(0, at, -1),
    "hole": lambda llama, at: llama._ctx.memory_seq_rm(0, at, at + 2),
    "cut by address": lambda llama, at: remove_by_address(llama, at, -1),
    "remove all": lambda llama, _: llama._ctx.memory_seq_rm(-1, -1, -1),
    "other sequence": lambda llama, at: decode(llama, at + 1, 1),
    "remove the other": lambda llama, _: llama._ctx.memory_seq_rm(1, -1, -1),
    "replace": lambda llama, _: replaced(llama),
    "keep": lambda llama, at: llama._ctx.memory_seq_keep(at % 2),
    "shift": lambda llama, _: shifted(llama),
    "decode": lambda llama, at: decode(llama, at + 1, 0),
    "save and restore": lambda llama, _: restored(llama),
}


@given(steps=st.lists(st.tuples(st.sampled_from(sorted(CHANGES)), st.integers(0, 12)), min_size=1, max_size=4))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_the_next_answer_is_that_of_an_empty_context(opened: Llama, steps: list[tuple[str, int]]) -> None:
    opened.reset()
    due = answer(opened)
    for name, at in steps:
        CHANGES[name](opened, at)
    assert answer(opened) == due
    assert opened.n_tokens == opened._ctx.memory_seq_pos_max(0) + 1


def test_what_was_cut_is_evaluated_again_and_nothing_else(synthetic: Llama) -> None:
    tokens = synthetic.tokenize(PROMPT.encode())
    synthetic.prefill(tokens)
    assert synthetic._ctx.memory_seq_rm(0, 5, -1)
    assert synthetic.n_tokens == 5
    assert synthetic.prefill(tokens).n_evaluated == len(tokens) - 5


def test_tokens_that_were_decoded_by_hand_count(synthetic: Llama) -> None:
    due = answer(synthetic)
    synthetic.reset()
    tokens = synthetic.tokenize(PROMPT.encode())
    synthetic._batch.set_batch(tokens, 0, logits_all=False)
    synthetic._ctx.decode(synthetic._batch)
    assert list(synthetic._input_ids) == tokens
    assert synthetic.sample(temp=0.0) == synthetic._ctx.get_logits_ith(-1).argmax()
    assert answer(synthetic) == due


def test_a_stream_whose_memory_is_taken_away(opened: Llama) -> None:
    opened.reset()
    due = answer(opened)
    for change in ("clear", "cut", "decode", "replace"):
        opened.reset()
        stream = opened.create_completion(PROMPT, max_tokens=N_TOKENS, ignore_eos=True, stream=True, **GREEDY)
        head = [next(stream), next(stream)]
        CHANGES[change](opened, 3)
        assert joined([*head, *stream])[0] == due, change


def test_views_are_of_the_same_objects(synthetic: Llama) -> None:
    assert synthetic._ctx is synthetic._ctx
    assert (synthetic._ctx.ctx, synthetic._model.model) == (synthetic.ctx, synthetic.model)
    assert type(synthetic.ctx) is type(synthetic.model) is int
    assert synthetic._ctx.model is synthetic._model
    synthetic._ctx.close()
    synthetic._model.close()
    assert synthetic._ctx.n_ctx() == synthetic.n_ctx(), "closing a view closes nothing"


def test_views_close_with_their_llama() -> None:
    with Llama(str(material.model(material.SYNTH_LLAMA)), n_ctx=64, verbose=False) as llama:
        context, model = llama._ctx, llama._model
    for call in (context.memory_clear, lambda: context.ctx, lambda: model.model, lambda: llama._ctx):
        with pytest.raises(RuntimeError, match="closed"):
            call()
