"""Caches at work: what they save, counted in tokens, and that they never change what is said."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rig.generation import GREEDY, text
from rig.memories import MEMORIES, Memory, assert_same, logits_from_scratch, tokens

from llama_cpp import BaseLlamaCache, HybridCheckpointCache, Llama, LlamaCache, LlamaDiskCache, LlamaRAMCache, LlamaState, LlamaTrieCache

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OTHER = [1, *tokens(40, seed=7)]


@pytest.fixture(scope="module", params=MEMORIES.values(), ids=MEMORIES)
def memory(request: pytest.FixtureRequest) -> Memory:
    found: Memory = request.param
    return found


@pytest.fixture(scope="module")
def opened(memory: Memory) -> Iterator[tuple[Llama, Llama]]:
    with memory.open() as one, memory.open() as fresh:
        yield one, fresh


@pytest.fixture
def pair(opened: tuple[Llama, Llama]) -> Iterator[tuple[Llama, Llama]]:
    opened[0].reset()
    yield opened
    opened[0].set_cache(None)


@pytest.fixture
def attention() -> Iterator[Llama]:
    with MEMORIES["attention"].open() as llama:
        yield llama


def test_two_conversations_in_turn_evaluate_only_what_is_new(pair: tuple[Llama, Llama], memory: Memory, tmp_path: Path) -> None:
    llama, fresh = pair
    for cache in (LlamaRAMCache(), LlamaTrieCache(), LlamaDiskCache(tmp_path)):
        llama.reset()
        llama.set_cache(cache)
        assert llama.cache is cache
        llama.create_completion(tokens(150), max_tokens=4, **GREEDY)
        held = llama.input_ids[: llama.n_tokens].tolist()
        llama.create_completion(OTHER, max_tokens=4, **GREEDY)
        following = [*held, *tokens(10, seed=3)]
        result = llama.prefill(following)
        assert result.n_evaluated == 10
        assert_same(result.logits, logits_from_scratch(fresh, following), memory.tolerance)
        assert 0 < cache.cache_size <= cache.capacity_bytes


def test_a_common_beginning_is_shared_where_memory_can_be_cut(attention: Llama) -> None:
    attention.set_cache(LlamaCache())
    attention.create_completion([*tokens(100), 5, 6], max_tokens=2, **GREEDY)
    attention.create_completion(OTHER, max_tokens=2, **GREEDY)
    assert attention.prefill([*tokens(100), 7, 8]).n_evaluated == 2


def test_what_is_in_memory_already_is_not_loaded(attention: Llama, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = LlamaRAMCache()
    attention.set_cache(cache)
    attention.create_completion(tokens(50), max_tokens=2, **GREEDY)
    loads: list[object] = []
    find = cache.find
    monkeypatch.setattr(cache, "find", lambda *given: loads.append(hit := find(*given)) or hit)
    attention.create_completion(tokens(50), max_tokens=2, **GREEDY)
    assert len(loads) == 1
    assert attention.prefill(tokens(60)).n_evaluated == 10


def test_a_full_context_still_evaluates_one_token(attention: Llama) -> None:
    attention.set_cache(LlamaRAMCache())
    attention.create_completion(tokens(50), max_tokens=1, **GREEDY)
    attention.reset()
    assert attention.prefill(tokens(50)).n_evaluated == 1


def test_streams_are_saved_also_when_the_consumer_stops_at_the_finish_reason(attention: Llama) -> None:
    cache = LlamaRAMCache()
    attention.set_cache(cache)
    for chunk in attention.create_completion(tokens(30), max_tokens=3, stream=True, **GREEDY):
        if chunk["choices"][0]["finish_reason"] is not None:  # type: ignore[index]
            break
    assert tokens(30) in cache
    assert len(cache) == 1


def test_what_is_aborted_is_not_saved(attention: Llama) -> None:
    cache = LlamaRAMCache()
    attention.set_cache(cache)
    stream = attention.create_completion(tokens(30), max_tokens=30, stream=True, **GREEDY)
    next(iter(stream))
    attention.abort()
    reasons = [chunk["choices"][0]["finish_reason"] for chunk in stream]  # type: ignore[index]
    assert reasons[-1] == "abort"
    assert len(cache) == 0


def test_what_fails_is_not_saved(attention: Llama) -> None:
    def fail(_ids: object, _row: object) -> None:
        raise ValueError("mine")

    cache = LlamaRAMCache()
    attention.set_cache(cache)
    with pytest.raises(ValueError, match="mine"):
        attention.create_completion(tokens(30), max_tokens=3, logits_processor=[fail])
    assert len(cache) == 0


def test_a_stream_that_lost_the_context_does_not_save_anothers_tokens(attention: Llama) -> None:
    cache = LlamaRAMCache()
    attention.set_cache(cache)
    stream = attention.create_completion(tokens(30), max_tokens=2, stream=True, **GREEDY)
    first = next(iter(stream))
    attention.set_cache(None)
    attention.create_completion(OTHER, max_tokens=2, **GREEDY)
    attention.set_cache(cache)
    assert first
    list(stream)
    assert OTHER not in cache or cache.find(OTHER).length <= 1  # type: ignore[union-attr]


def test_one_cache_serves_several_models() -> None:
    cache = LlamaRAMCache()
    with MEMORIES["attention"].open() as one, MEMORIES["hybrid"].open() as other:
        for llama in (one, other):
            llama.set_cache(cache)
            llama.create_completion(tokens(60), max_tokens=2, **GREEDY)
        assert len(cache) == 2
        for llama in (one, other):
            held = llama.input_ids[: llama.n_tokens].tolist()
            llama.reset()
            assert llama.prefill([*held, 5]).n_evaluated == 1


def test_adapters_do_not_mix(attention: Llama) -> None:
    from rig import material  # noqa: PLC0415 - for this test only

    attention.load_lora("strong", str(material.model(material.SYNTH_LORA)))
    plain = text(attention.create_completion(tokens(40), max_tokens=8, **GREEDY))
    attention.set_cache(LlamaRAMCache())
    adapted = text(attention.create_completion(tokens(40), max_tokens=8, active_loras=["strong"], **GREEDY))
    assert adapted != plain
    assert text(attention.create_completion(tokens(40), max_tokens=8, **GREEDY)) == plain
    assert text(attention.create_completion(tokens(40), max_tokens=8, active_loras=["strong"], **GREEDY)) == adapted


class Own(BaseLlamaCache):
    """A cache of someone else's making, by the abstract class alone."""

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[tuple[int, ...], LlamaState] = {}

    @property
    def cache_size(self) -> int:
        return sum(each.nbytes for each in self.held.values())

    def __contains__(self, key: Any) -> bool:
        return bool(self.held)

    def __getitem__(self, key: Any) -> LlamaState:
        for state in self.held.values():
            return state
        raise KeyError(key)

    def __setitem__(self, key: Any, value: LlamaState) -> None:
        self.held[tuple(key)] = value


def test_caches_of_others_are_used_for_what_they_are_worth(pair: tuple[Llama, Llama], memory: Memory) -> None:
    llama, fresh = pair
    llama.set_cache(Own())
    for prompt in (tokens(80), OTHER, tokens(120), [*tokens(70), 3, 4]):
        produced = list(itertools.islice(llama.generate(prompt, temp=0.0), 2))
        llama.create_completion(prompt, max_tokens=2, **GREEDY)
        assert llama.input_ids[: llama.n_tokens].tolist() == [*prompt, produced[0]]
        assert_same(llama.prefill(prompt).logits, logits_from_scratch(fresh, prompt), memory.tolerance)


def test_what_is_no_cache_is_refused(attention: Llama) -> None:
    with MEMORIES["hybrid"].open() as hybrid:
        for value in (3, object(), HybridCheckpointCache(hybrid)):
            with pytest.raises(TypeError, match="set_cache takes"):
                attention.set_cache(value)  # type: ignore[arg-type]
    assert attention.cache is None
    assert np.isfinite(attention.prefill(tokens(3)).logits).all()
