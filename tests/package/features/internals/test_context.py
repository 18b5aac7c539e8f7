from __future__ import annotations

import ctypes
import threading
from typing import TYPE_CHECKING, Any

import pytest

from llama_cpp._engine.errors import CacheFullError, ClosedError, InvalidArgumentError, MemoryOperationError, SequenceIdError
from llama_cpp._features.internals.batch import LlamaBatch
from llama_cpp._features.internals.context import LlamaContext
from llama_cpp._features.internals.state_methods import _bytes, _deliver, _deliver_tokens
from tests.package.engine.fakes import N_VOCAB, FakeLlama

if TYPE_CHECKING:
    from llama_cpp._features.internals.model import LlamaModel


class Ledger:
    def __init__(self, cuttable: int = 100) -> None:
        self.told: list[Any] = []
        self.cuttable = cuttable

    def memory_changed(self, keep: int) -> None:
        self.told.append(keep)

    def evaluated(self, batch: Any) -> None:
        self.told.append(None if batch is None else batch.tokens[: batch.size].tolist())

    def can_keep(self, positions: int) -> bool:
        return positions <= self.cuttable


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


@pytest.fixture
def view(native: FakeLlama, model: LlamaModel, ledger: Ledger) -> LlamaContext:
    """A context that belongs to someone who counts on its memory."""
    for name in ("clear", "seq_rm", "seq_cp", "seq_keep", "seq_add", "seq_div"):
        native.replace(f"llama_memory_{name}", lambda *arguments, name=name: native.calls.append((name, *arguments[1:])) or True)
    native.replace("llama_memory_can_shift", lambda _: True)
    return LlamaContext.of(model, native.context(model.engine, n_seq_max=2), lock=threading.RLock(), ledger=ledger)


def test_evaluating_and_reading(native: FakeLlama, context: LlamaContext) -> None:
    batch = LlamaBatch(4, 0, 1)
    batch.set_batch([7, 8], 0, True)
    assert context.decode(batch) == 0
    assert [context.get_logits_ith(i).argmax() for i in (0, 1, -1)] == [7, 8, 8]
    assert context.get_logits().shape == (2 * N_VOCAB,)
    assert native.decoded[0]["tokens"] == [7, 8]


@pytest.mark.parametrize(
    ("change", "keep"),
    [
        (lambda view: view.memory_clear(), 0),
        (lambda view: view.kv_cache_clear(), 0),
        (lambda view: view.memory_seq_rm(0, 5, -1), 5),
        (lambda view: view.kv_cache_seq_rm(0, 5, 9), 5),
        (lambda view: view.memory_seq_rm(-1, -1, -1), 0),
        (lambda view: view.memory_seq_rm(0, 0, -1), 0),
        (lambda view: view.memory_seq_rm(0, 101, -1), 0),  # where a cut would not compute the same
        (lambda view: view.memory_seq_cp(1, 0, -1, -1), 0),
        (lambda view: view.memory_seq_keep(0), 0),
        (lambda view: view.memory_seq_add(0, 0, -1, 1), 0),
        (lambda view: view.kv_cache_seq_shift(0, 0, -1, 1), 0),
        (lambda view: view.memory_seq_div(0, 0, -1, 2), 0),
        (lambda view: view.set_causal_attn(False), 0),
    ],
)
def test_who_counts_on_memory_is_told(native: FakeLlama, view: LlamaContext, ledger: Ledger, change: Any, keep: int) -> None:
    native.replace("llama_set_causal_attn", lambda *_: None)
    change(view)
    assert ledger.told == [keep]


@pytest.mark.parametrize("change", [lambda view: view.memory_seq_rm(1, 2, -1), lambda view: view.memory_seq_add(1, 0, -1, 1)])
def test_other_sequences_are_of_no_concern(view: LlamaContext, ledger: Ledger, change: Any) -> None:
    change(view)
    assert ledger.told == []


def test_it_is_told_of_a_failure_too(native: FakeLlama, view: LlamaContext, ledger: Ledger) -> None:
    batch = LlamaBatch(4, 0, 1)
    batch.set_batch([7, 8], 0, False)
    view.decode(batch)
    native.code = 1
    with pytest.raises(CacheFullError):
        view.decode(batch)
    assert ledger.told == [[7, 8], None]


@pytest.mark.parametrize(
    "call", [lambda c: c.memory_seq_pos_max(2), lambda c: c.kv_cache_seq_rm(-2, 0, -1), lambda c: c.memory_seq_keep(-1)]
)
def test_sequences_out_of_range(context: LlamaContext, call: Any) -> None:
    with pytest.raises(SequenceIdError):
        call(context)


def test_a_context_without_memory(native: FakeLlama, model: LlamaModel) -> None:
    native.memory = None
    context = LlamaContext.of(model, native.context(model.engine), lock=threading.RLock(), ledger=None)
    with pytest.raises(MemoryOperationError):
        context.memory_clear()


def test_only_an_owner_closes(native: FakeLlama, view: LlamaContext, context: LlamaContext) -> None:
    view.close()
    view.engine.synchronize  # noqa: B018 - it is still there
    assert not view.engine.closed
    context.close()
    with pytest.raises(ClosedError):
        _ = context.ctx
    assert [call[0] for call in native.calls].count("free context") == 1


def test_adapters_of_a_llamas_own_context_are_the_llamas(view: LlamaContext) -> None:
    with pytest.raises(InvalidArgumentError, match="active_loras"):
        view.set_adapters_lora({})


def test_states_are_delivered_as_bytes_or_into_buffers() -> None:
    buffer = (ctypes.c_uint8 * 4)()
    assert _deliver(b"abc", None, None) == b"abc"
    assert (_deliver(b"abc", buffer, None), bytes(buffer)) == (3, b"abc\0")
    with pytest.raises(InvalidArgumentError, match="buffer of 4"):
        _deliver(b"abcde", buffer, 900)
    with pytest.raises(InvalidArgumentError, match="buffer of 2"):
        _deliver(b"abc", buffer, 2)


def test_states_are_taken_from_anything_that_holds_bytes() -> None:
    buffer = (ctypes.c_uint8 * 3)(1, 2, 3)
    assert _bytes(buffer, None) == _bytes(b"\1\2\3", None) == _bytes(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_uint8)), 3) == b"\1\2\3"
    assert _bytes(b"\1\2\3", 2) == b"\1\2"
    for source, size in ((b"ab", 3), (ctypes.cast(buffer, ctypes.POINTER(ctypes.c_uint8)), None)):
        with pytest.raises(InvalidArgumentError):
            _bytes(source, size)


def test_tokens_are_delivered_into_what_the_caller_gives() -> None:
    room, count, other = (ctypes.c_int32 * 3)(), ctypes.c_size_t(), ctypes.c_size_t()
    assert _deliver_tokens([4, 5], room, ctypes.byref(count)) == [4, 5]
    assert _deliver_tokens([4, 5], None, other) == [4, 5]
    assert (list(room), count.value, other.value) == ([4, 5, 0], 2, 2)
