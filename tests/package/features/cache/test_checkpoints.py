"""Checkpoints against a simple reference: which cells each was made of, and whether those are still the same ones."""

from __future__ import annotations

import gc
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from llama_cpp._engine.changes import Changes, open_contexts
from llama_cpp._engine.errors import ClosedError, StateError
from llama_cpp._engine.outputs import OutputRows
from llama_cpp._engine.state import ON_DEVICE
from llama_cpp._features.cache.checkpoints import HybridCheckpoint, HybridCheckpointCache

SEQUENCES = 2
Cell = tuple[int, int]  # a token, and a number that no other cell ever has


class FakeHybrid:
    """Attention cells that can be cut, and one recurrent state per sequence, which says behind which cells it stands."""

    closed = False

    def __init__(self) -> None:
        self.changes = Changes()
        self.rows = OutputRows()
        self.memory = self.state = self
        self.cells: dict[int, list[Cell]] = {seq: [] for seq in range(SEQUENCES)}
        self.recurrent: dict[int, tuple[Cell, ...]] = dict.fromkeys(range(SEQUENCES), ())
        self.slots: dict[int, tuple[Cell, ...]] = {}
        self.numbers = itertools.count()
        self.fails = False
        self.ctx = 77_000_000 + id(self) % 1_000_000
        open_contexts[self.ctx] = self  # type: ignore[assignment]

    def decode(self, seq: int, tokens: list[int]) -> None:
        self.cells[seq] += [(token, next(self.numbers)) for token in tokens]
        self.recurrent[seq] = tuple(self.cells[seq])

    def replace(self, seq: int, first: int) -> None:
        """Whatever else happens to positions from `first` on: they are other ones now."""
        self.cells[seq][first:] = [(token, next(self.numbers)) for token, _ in self.cells[seq][first:]]
        self.recurrent[seq] = tuple(self.cells[seq])

    def pos_max(self, seq: int = 0) -> int:
        return len(self.cells[seq]) - 1

    def pos_min(self, seq: int = 0) -> int:
        return self.pos_max(seq)

    def save_sequence(self, seq: int, flags: int) -> bytes:
        if self.fails:
            raise StateError("no room")
        if flags & ON_DEVICE:
            self.changes.device_state_replaced(seq)
            self.slots[seq] = self.recurrent[seq]
        return repr(self.recurrent[seq]).encode()

    def rewind(self, seq: int, data: bytes, flags: int, length: int) -> None:
        restored = self.slots[seq] if flags & ON_DEVICE else tuple(eval(data))  # noqa: S307 - our own repr
        assert list(restored) == self.cells[seq][:length], "the state does not belong to the cells before it"
        self.recurrent[seq] = restored
        del self.cells[seq][length:]
        self.changes.removed(seq, length, -1)


class AnyOrder(RuleBasedStateMachine):
    """Two caches of one context: host and device, or two on the device."""

    @initialize(second_on_device=st.booleans())
    def begin(self, second_on_device: bool) -> None:
        self.context = FakeHybrid()
        self.caches = [
            HybridCheckpointCache(self.context, 3, on_device=second_on_device),
            HybridCheckpointCache(self.context, 2, on_device=True),
        ]
        self.made: list[tuple[int, HybridCheckpoint, list[Cell]]] = []

    @rule(seq=st.integers(0, 1), tokens=st.lists(st.integers(0, 2), min_size=1, max_size=4))
    def evaluate(self, seq: int, tokens: list[int]) -> None:
        self.context.decode(seq, tokens)

    @rule(which=st.integers(0, 1), seq=st.integers(0, 1))
    def save(self, which: int, seq: int) -> None:
        cells = self.context.cells[seq]
        before = {id(each) for each in self.caches[which].checkpoints}
        done = self.caches[which].save_checkpoint(len(cells), [token for token, _ in cells], seq)
        assert done == bool(cells)
        self.made += [(which, each, list(cells)) for each in self.caches[which].checkpoints if id(each) not in before]

    @rule(which=st.integers(0, 1), seq=st.integers(0, 1), short=st.integers(1, 3))
    def save_where_it_is_not(self, which: int, seq: int, short: int) -> None:
        tokens = [token for token, _ in self.context.cells[seq]]
        assert not self.caches[which].save_checkpoint(len(tokens) - short, tokens, seq)
        assert not self.caches[which].save_checkpoint(len(tokens) + short, tokens * 4, seq)

    @precondition(lambda self: self.made)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        which, checkpoint, cells = data.draw(st.sampled_from(self.made))
        seq, cache = checkpoint.seq_id, self.caches[which]
        true = any(each is checkpoint for each in cache.checkpoints)
        assert cache.restore_checkpoint(checkpoint, seq) is true
        assert not cache.restore_checkpoint(checkpoint, 1 - seq)
        assert not self.caches[1 - which].restore_checkpoint(checkpoint, seq)
        if true:
            assert self.context.cells[seq] == cells
            assert self.context.recurrent[seq] == tuple(cells)
            assert all(each.pos <= checkpoint.pos for each in cache.checkpoints if each.seq_id == seq)

    @rule(seq=st.integers(0, 1), first=st.integers(0, 6))
    def remove_the_end(self, seq: int, first: int) -> None:
        del self.context.cells[seq][first:]
        self.context.recurrent[seq] = tuple(self.context.cells[seq])
        self.context.changes.removed(seq, first, -1)

    @rule(seq=st.integers(0, 1), first=st.integers(0, 6))
    def change(self, seq: int, first: int) -> None:
        """Shifting, copying, restoring, an evaluation that fails: all tell from where on."""
        self.context.replace(seq, first)
        self.context.changes.lost(first, seq)

    @rule()
    def clear(self) -> None:
        for seq in range(SEQUENCES):
            self.context.replace(seq, 0)
        self.context.changes.lost()

    @rule(seq=st.integers(0, 1))
    def keep(self, seq: int) -> None:
        self.context.replace(1 - seq, 0)
        self.context.changes.lost(spared=seq)

    @invariant()
    def those_that_are_true_are_listed_and_no_others(self) -> None:
        if not hasattr(self, "caches"):
            return
        for which, cache in enumerate(self.caches):
            held = cache.checkpoints
            assert len(held) <= cache.max_checkpoints
            assert cache.cache_size == sum(each.size for each in held)
            assert len({(each.pos, each.hash_val, each.seq_id) for each in held}) == len(held), "no duplicates"
            mine = [(each, cells) for owner, each, cells in self.made if owner == which]
            true = [each for each, cells in mine if self.is_true(cache, each, cells)]
            assert all(any(each is one for one in true) for each in held), "one that is not true any more is listed"
            newest = true[-cache.max_checkpoints :]
            assert all(any(each is one for one in held) for each in newest if not cache.on_device), "a true one was dropped"

    def is_true(self, cache: HybridCheckpointCache, checkpoint: HybridCheckpoint, cells: list[Cell]) -> bool:
        if self.context.cells[checkpoint.seq_id][: checkpoint.pos] != cells:
            return False
        return not cache.on_device or self.context.slots.get(checkpoint.seq_id) == tuple(cells)

    def teardown(self) -> None:
        for cache in getattr(self, "caches", ()):
            cache.close()


TestAnyOrder = AnyOrder.TestCase


@pytest.fixture
def context() -> FakeHybrid:
    return FakeHybrid()


def saved(context: FakeHybrid, cache: HybridCheckpointCache, *tokens: int) -> HybridCheckpoint:
    context.decode(0, list(tokens))
    assert cache.save_checkpoint(len(context.cells[0]), [token for token, _ in context.cells[0]])
    return cache.checkpoints[-1]


def test_the_longest_that_fits_is_found(context: FakeHybrid) -> None:
    cache = HybridCheckpointCache(context)
    short, long = saved(context, cache, 1, 2), saved(context, cache, 3)
    assert cache.find_best_checkpoint([1, 2, 3, 4]) is long
    assert cache.find_best_checkpoint(np.array([1, 2, 3])) is long
    assert cache.find_best_checkpoint([1, 2, 9, 4]) is short
    assert cache.find_best_checkpoint([1, 9]) is None
    assert cache.find_best_checkpoint([]) is None
    assert cache.find_best_checkpoint([1, 2, 3], seq_id=1) is None


def test_what_is_in_one(context: FakeHybrid) -> None:
    made = saved(context, HybridCheckpointCache(context), 1, 2, 3)
    assert (made.pos, made.seq_id, made.pos_min, made.pos_max, made.size) == (3, 0, 2, 2, len(made.data))
    with pytest.raises(AttributeError):
        made.pos = 1  # type: ignore[misc]


def test_the_oldest_goes_when_there_are_too_many(context: FakeHybrid) -> None:
    cache = HybridCheckpointCache(context, max_checkpoints=2)
    for token in range(4):
        saved(context, cache, token)
    assert [each.pos for each in cache.checkpoints] == [3, 4]


def test_none_at_all(context: FakeHybrid) -> None:
    cache = HybridCheckpointCache(context, max_checkpoints=0)
    context.decode(0, [1])
    assert not cache.save_checkpoint(1, [1])
    with pytest.raises(ValueError, match="max_checkpoints"):
        HybridCheckpointCache(context, -1)


def test_a_state_that_cannot_be_saved_is_no_checkpoint(context: FakeHybrid) -> None:
    cache = HybridCheckpointCache(context)
    context.fails = True
    context.decode(0, [1])
    assert not cache.save_checkpoint(1, [1])
    assert cache.checkpoints == []


def test_a_state_that_native_code_refuses_takes_the_others_with_it(context: FakeHybrid, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = HybridCheckpointCache(context)
    made = saved(context, cache, 1, 2)

    def refuse(*_: Any) -> None:
        raise StateError("refused")

    monkeypatch.setattr(context, "rewind", refuse)
    assert not cache.restore_checkpoint(made)
    assert cache.checkpoints == []


def test_a_closed_cache_says_so_and_hears_no_more(context: FakeHybrid) -> None:
    cache = HybridCheckpointCache(context)
    made = saved(context, cache, 1)
    cache.close()
    cache.close()
    assert cache.checkpoints == []
    with pytest.raises(ClosedError):
        cache.restore_checkpoint(made)
    context.changes.lost()


def test_caches_are_registered_weakly(context: FakeHybrid) -> None:
    HybridCheckpointCache(context)
    gc.collect()
    assert not list(context.changes._observers)


def test_it_is_no_cache_of_states(context: FakeHybrid) -> None:
    cache = HybridCheckpointCache(context)
    for use in (lambda: cache[1,], lambda: (1,) in cache, lambda: cache.__setitem__((1,), None)):
        with pytest.raises(NotImplementedError):
            use()


@pytest.mark.parametrize("value", [None, "context", 12345, object()])
def test_what_is_no_context_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="a checkpoint cache needs"):
        HybridCheckpointCache(value)
