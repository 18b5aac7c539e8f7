"""All caches of states against one plain model of the rule: hits, agreement, exact bytes, who goes first."""

from __future__ import annotations

import shutil
import tempfile
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._engine import logbridge
from llama_cpp._features.cache.base import BaseLlamaCache, FindingCache
from llama_cpp._features.cache.disk import LlamaDiskCache
from llama_cpp._features.cache.memory import LlamaRAMCache, LlamaTrieCache
from llama_cpp._features.state.compatibility import CUTTABLE, fingerprint
from llama_cpp._features.state.file import file_bytes
from llama_cpp._features.state.snapshot import LlamaState

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Key = tuple[int, ...]
CAPACITY = 2000
ORIGINS: dict[str, dict[str, Any] | None] = {
    "attention": {"model": "a", CUTTABLE: True},
    "recurrent": {"model": "b", CUTTABLE: False},
    "old": None,
}


def state(key: Key, size: int = 10, origin: str = "attention") -> LlamaState:
    native = bytes(size)
    return LlamaState(np.array(key, np.intc), np.zeros((0, 3), np.single), len(key), native, size, 1, None, ORIGINS[origin])


class Reference:
    """The rule in its plainest form."""

    def __init__(self, capacity: int, size: Any) -> None:
        self.capacity, self.size = capacity, size
        self.held: OrderedDict[tuple[str, Key], LlamaState] = OrderedDict()

    @property
    def total(self) -> int:
        return sum(self.size(each) for each in self.held.values())

    def served(self, name: tuple[str, Key], tokens: Key) -> int:
        origin, key = name
        common = next((place for place, (a, b) in enumerate(zip(key, tokens, strict=False)) if a != b), min(len(key), len(tokens)))
        return common if origin != "recurrent" or common == len(key) else 0

    def best(self, tokens: Key, origin: str | None) -> int:
        return max((self.served(name, tokens) for name in self.held if origin in {None, name[0]}), default=0)

    def put(self, key: Key, value: LlamaState, origin: str) -> None:
        self.held.pop((origin, key), None)
        if not key or self.size(value) > self.capacity:
            return
        while self.total + self.size(value) > self.capacity:
            self.held.popitem(last=False)
        self.held[origin, key] = value

    def use(self, found: LlamaState) -> None:
        for name, each in self.held.items():
            if each.tokens.tolist() == found.tokens.tolist() and fingerprint(each.compatibility) == fingerprint(found.compatibility):
                self.held.move_to_end(name)
                return


KEYS = st.lists(st.integers(0, 2), max_size=6).map(tuple)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), KEYS, st.sampled_from([10, 300, 900, 5000]), st.sampled_from(sorted(ORIGINS))),
        st.tuples(st.just("get"), KEYS, st.none(), st.none()),
        st.tuples(st.just("find"), KEYS, st.none(), st.sampled_from(sorted(ORIGINS))),
    ),
    max_size=20,
)


def walk(cache: FindingCache, steps: list[Any], size: Any) -> list[int]:
    """Do the steps, checking each against the reference; returns how many tokens each question was answered with."""
    reference, answers = Reference(CAPACITY, size), []
    for step, key, length, origin in steps:
        if step == "put":
            value = state(key, length, origin)
            cache[key] = value
            reference.put(key, value, origin)
        elif step == "find":
            hit = cache.find(key, fingerprint(ORIGINS[origin]))
            assert (hit.length if hit else 0) == reference.best(key, origin)
            answers.append(hit.length if hit else 0)
        else:
            due = reference.best(key, None)
            assert (key in cache) == bool(due)
            if isinstance(cache, LlamaDiskCache) and due:
                reference.use(cache.find(key).load())  # `in` of a disk cache reads the file, which is a use
            if due:
                reference.use(cache[key])
            else:
                with pytest.raises(KeyError):
                    cache[key]
            answers.append(due)
        assert cache.cache_size == reference.total <= CAPACITY
        assert len(cache) == len(reference.held)  # type: ignore[arg-type]
    return answers


@given(STEPS)
def test_caches_in_memory_follow_the_rule_and_agree(steps: list[Any]) -> None:
    answers = [walk(cache, steps, lambda each: each.nbytes) for cache in (LlamaRAMCache(CAPACITY), LlamaTrieCache(CAPACITY))]
    assert answers[0] == answers[1]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    made = tempfile.mkdtemp()
    yield made  # type: ignore[misc]
    shutil.rmtree(made)


@given(STEPS)
def test_the_cache_on_disk_follows_the_same_rule(folder: Path, steps: list[Any]) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as own:
        walk(LlamaDiskCache(own, CAPACITY), steps, file_bytes)


@pytest.fixture(params=["ram", "trie", "disk"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> FindingCache:
    made = {"ram": LlamaRAMCache, "trie": LlamaTrieCache, "disk": lambda: LlamaDiskCache(tmp_path / "cache")}
    return made[request.param]()


def test_states_come_back_as_they_were(cache: FindingCache) -> None:
    given_state = LlamaState(np.array([1, 2], np.intc), np.ones((2, 3), np.single), 2, b"abc", 3, 7, np.ones(3, np.single), {"a": 1})
    cache[1, 2] = given_state
    found = cache[1, 2]
    assert (found.n_tokens, found.llama_state, found.seed, found.compatibility) == (2, b"abc", 7, {"a": 1})
    assert np.array_equal(found.scores, given_state.scores)
    assert np.array_equal(found.last_logits, given_state.last_logits)  # type: ignore[arg-type]


def test_keys_may_be_lists_or_arrays(cache: FindingCache) -> None:
    cache[[1, 2, 3]] = state((1, 2, 3))
    assert np.array([1, 2, 3, 4]) in cache
    assert cache[[1, 2]].n_tokens == 3
    assert [5] not in cache
    assert [] not in cache


def test_models_do_not_get_each_others_states(cache: FindingCache) -> None:
    cache[1, 2, 3] = state((1, 2, 3), origin="attention")
    cache[1, 2] = state((1, 2), origin="recurrent")
    assert cache.find((1, 2, 3), fingerprint(ORIGINS["recurrent"])).length == 2  # type: ignore[union-attr]
    assert cache.find((1, 2, 3), "of another model") is None


def test_an_entry_that_was_used_outlives_older_ones(cache: FindingCache) -> None:
    size = file_bytes(state((1,))) if isinstance(cache, LlamaDiskCache) else state((1,)).nbytes
    cache.capacity_bytes = 2 * size
    cache[[1]] = state((1,))
    cache[[2]] = state((2,))
    cache[[1]]
    cache[[3]] = state((3,))
    assert [token for token in (1, 2, 3) if [token] in cache] == [1, 3]


def test_one_that_is_too_large_is_not_kept_and_drives_none_away(cache: FindingCache) -> None:
    cache.capacity_bytes = 1000
    cache[[1]] = state((1,))
    cache[[2]] = state((2,), 2000)
    assert [1] in cache
    assert [2] not in cache


def test_verbose_caches_log(cache: FindingCache, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr(logbridge.logger, "info", lambda message, *values: lines.append(message % values))
    cache[[1]] = state((1,))
    assert lines == []
    cache.verbose = True
    cache[[1]]
    assert lines == [f"{type(cache).__name__}: hit: 1 of 1 tokens"]


def test_negative_capacities_are_refused() -> None:
    with pytest.raises(ValueError, match="capacity_bytes"):
        LlamaRAMCache(-1)


def test_the_base_is_abstract() -> None:
    with pytest.raises(TypeError):
        BaseLlamaCache()  # type: ignore[abstract]
