"""Saving and loading: what comes back is what was there, exactly; what does not fit is refused and changes nothing."""

from __future__ import annotations

import itertools
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rig import material
from rig.memories import MEMORIES, Memory, assert_same, logits_from_scratch, tokens

from llama_cpp import Llama, LlamaState
from llama_cpp.errors import OutputIndexError, StateFileError, StateMismatchError, StateRestoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONG = tokens(300)


@pytest.fixture(scope="module", params=MEMORIES.values(), ids=MEMORIES)
def memory(request: pytest.FixtureRequest) -> Memory:
    found: Memory = request.param
    return found


@pytest.fixture(scope="module")
def pair(memory: Memory) -> Iterator[tuple[Llama, Llama]]:
    with memory.open() as one, memory.open() as other:
        yield one, other


@pytest.fixture
def attention() -> Iterator[Llama]:
    with MEMORIES["attention"].open(n_ctx=256) as llama:
        yield llama


def go_on(llama: Llama, count: int = 6) -> tuple[list[int], Any]:
    """Sample and evaluate some tokens; what was chosen, and the last logits."""
    chosen = []
    for _ in range(count):
        chosen.append(llama.sample(temp=0.0))
        llama.eval(chosen[-1:])
    return chosen, llama.scores[-1].copy()


def test_another_object_goes_on_exactly_as_the_first(pair: tuple[Llama, Llama], memory: Memory) -> None:
    one, other = pair
    one.reset()
    one.eval(LONG)
    state = one.save_state()
    row = one.scores[-1].copy()
    due = go_on(one)
    other.reset()
    other.eval(tokens(50, seed=3))
    other.load_state(state)
    assert other.input_ids[: other.n_tokens].tolist() == LONG
    assert np.array_equal(other.scores[-1], row)
    found = go_on(other)
    assert found[0] == due[0]
    assert_same(found[1], due[1], memory.after_load)


def test_a_file_and_a_pickle_hold_the_same(pair: tuple[Llama, Llama], memory: Memory, tmp_path: Path) -> None:
    one, other = pair
    one.reset()
    one.eval(LONG[:100])
    state = one.save_state()
    assert one.save_state_file(tmp_path / "a.state") == (tmp_path / "a.state").stat().st_size
    due = go_on(one)
    for load in (lambda: other.load_state(pickle.loads(pickle.dumps(state))), lambda: other.load_state_file(tmp_path / "a.state")):  # noqa: S301
        other.reset()
        load()
        found = go_on(other)
        assert found[0] == due[0]
        assert_same(found[1], due[1], memory.after_load)


def test_what_was_loaded_can_be_shortened(pair: tuple[Llama, Llama], memory: Memory) -> None:
    one, other = pair
    one.reset()
    one.eval(LONG)
    state = one.save_state()
    for keep in (299, 150, 20, 1):
        other.load_state(state)
        other.eval([77])
        prompt = [*LONG[:keep], 42]
        assert_same(other.prefill(prompt).logits, logits_from_scratch(one, prompt), memory.tolerance)


def test_the_size_does_not_grow_with_the_context() -> None:
    sizes = []
    for n_ctx in (256, 2048):
        with MEMORIES["attention"].open(n_ctx=n_ctx) as llama:
            llama.eval(LONG[:50])
            state = llama.save_state()
            assert state.nbytes == state.llama_state_size + 50 * 4 + llama.n_vocab() * 4
            sizes.append(state.nbytes)
    assert sizes[0] == sizes[1]


def test_the_logits_of_all_tokens_are_saved_where_they_are_kept(attention: Llama) -> None:
    with MEMORIES["attention"].open(logits_all=True, n_ctx=256) as one, MEMORIES["attention"].open(logits_all=True, n_ctx=256) as other:
        one.eval(LONG[:20])
        state = one.save_state()
        assert state.scores.shape == (20, one.n_vocab())
        other.load_state(state)
        assert np.array_equal(other.scores[:20], one.scores[:20])
        attention.eval(LONG[:20])
        with pytest.raises(StateMismatchError, match="logits_all"):
            other.load_state(attention.save_state())


def test_the_series_of_seeds_goes_on_from_its_place(attention: Llama) -> None:
    attention.set_seed(1337)
    state = attention.save_state()
    first, second = (attention.create_completion([1, 50, 60], max_tokens=12, temperature=2.0) for _ in range(2))
    attention.load_state(state)
    third = attention.create_completion([1, 50, 60], max_tokens=12, temperature=2.0)
    texts = [each["choices"][0]["text"] for each in (first, second, third)]
    assert texts[0] != texts[1]
    assert texts[0] == texts[2]


def test_without_last_logits_there_is_nothing_to_sample_from(attention: Llama) -> None:
    attention.eval(LONG[:10])
    state = attention.save_state()
    state.last_logits = None
    attention.load_state(state)
    with pytest.raises(OutputIndexError):
        attention.sample()
    assert len(list(itertools.islice(attention.generate([], reset=False, temp=0.0), 2))) == 2


def test_constraints_hold_for_the_first_token_after_a_load(attention: Llama) -> None:
    attention.eval(LONG[:10])
    state = attention.save_state()
    attention.load_state(state)
    seen = []
    assert attention.sample(logits_processor=[lambda ids, row: seen.append(len(ids)) or row], temp=0.0) == int(state.last_logits.argmax())  # type: ignore[union-attr]
    assert seen == [10]
    assert attention.sample(logit_bias={55: 1000.0}, temp=0.0) == 55


def test_an_empty_state_empties(attention: Llama) -> None:
    state = attention.save_state()
    attention.eval(LONG[:10])
    attention.load_state(state)
    assert attention.n_tokens == 0
    with pytest.raises(OutputIndexError):
        attention.sample()


def test_a_state_without_the_later_fields_loads(attention: Llama) -> None:
    attention.eval(LONG[:10])
    state = attention.save_state()
    old = LlamaState(state.input_ids, state.scores, state.n_tokens, state.llama_state, state.llama_state_size, state.seed)
    attention.reset()
    attention.load_state(old)
    assert attention.n_tokens == 10


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"variable": material.SYNTH_MIXTURE}, "model is"),
        ({"options": {"n_ctx": 512}}, "n_ctx is 512 in the state and 256 here"),
        ({"options": {"type_k": 0}}, "type_k is 0 in the state"),
        ({"options": {"rope_freq_scale": 0.5}}, "rope_freq_scale is 0.5 in the state"),
    ],
)
def test_a_state_from_elsewhere_is_refused_by_name_and_changes_nothing(attention: Llama, other: dict[str, Any], named: str) -> None:
    fields = {"variable": material.SYNTH_LLAMA, **other}
    with Memory(**fields).open(**{"n_ctx": 256, **fields.get("options", {})}) as foreign:
        foreign.eval(LONG[:10])
        state = foreign.save_state()
    attention.eval(LONG[:30])
    row = attention.scores[-1].copy()
    with pytest.raises(StateMismatchError, match=named):
        attention.load_state(state)
    assert attention.n_tokens == 30
    assert np.array_equal(attention.scores[-1], row)


def test_a_state_that_was_computed_with_an_adapter_says_so(attention: Llama) -> None:
    attention.load_lora("strong", str(material.model(material.SYNTH_LORA)))
    attention.eval(LONG[:10], active_loras=["strong"])
    state = attention.save_state()
    attention.load_state(state)
    attention.eval(LONG[:10])
    with pytest.raises(StateMismatchError, match="adapters is"):
        attention.load_state(state)
    attention.reset()


@pytest.mark.logs_native_errors
def test_what_native_code_refuses_leaves_an_empty_object_that_works(pair: tuple[Llama, Llama], memory: Memory) -> None:
    one, other = pair
    due = logits_from_scratch(one, LONG[:40])
    one.reset()
    one.eval(LONG[:60])
    state = one.save_state()
    native = state.llama_state
    for damaged in (native[: len(native) // 2], native + b"more", bytes(len(native))):
        state.llama_state, state.llama_state_size = damaged, len(damaged)
        other.reset()
        other.eval(LONG[:20])
        with pytest.raises(StateRestoreError, match="Failed to set llama state data"):
            other.load_state(state)
        assert other.n_tokens == 0
        assert_same(other.prefill(LONG[:40]).logits, due, memory.tolerance)


def test_a_damaged_file_changes_nothing(attention: Llama, tmp_path: Path) -> None:
    attention.eval(LONG[:10])
    attention.save_state_file(tmp_path / "a.state")
    content = bytearray((tmp_path / "a.state").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "a.state").write_bytes(content)
    attention.eval([5])
    with pytest.raises(StateFileError, match="damaged"):
        attention.load_state_file(tmp_path / "a.state")
    assert attention.n_tokens == 11
