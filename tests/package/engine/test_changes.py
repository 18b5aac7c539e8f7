"""Who is told of which change: each operation says exactly which positions of which sequences it touched."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest

from llama_cpp._engine.changes import Changes, open_contexts
from llama_cpp._engine.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llama_cpp._engine.context import Context
    from tests.package.engine.fakes import FakeLlama


class Recorder:
    def __init__(self) -> None:
        self.heard: list[tuple[Any, ...]] = []

    def lost(self, first: int, seq_id: int | None = None, *, spared: int | None = None) -> None:
        self.heard.append(("lost", first, seq_id, spared))

    def device_state_replaced(self, seq_id: int) -> None:
        self.heard.append(("device", seq_id))

    def close(self) -> None:
        self.heard.append(("close",))


@pytest.fixture
def context(native: FakeLlama) -> Iterator[Context]:
    for name in ("clear", "seq_rm", "seq_cp", "seq_keep", "seq_add", "seq_div"):
        native.replace(f"llama_memory_{name}", lambda *_: True)
    native.replace("llama_memory_can_shift", lambda _memory: True)
    model = native.model()
    yield native.context(model, kv_unified=True)
    model.close()


@pytest.fixture
def recorder(context: Context) -> Recorder:
    made = Recorder()
    context.changes.register(made)
    return made


@pytest.mark.parametrize(
    ("operation", "heard"),
    [
        (lambda memory: memory.clear(), [("lost", 0, None, None)]),
        (lambda memory: memory.remove(1, 5, -1), [("lost", 5, 1, None)]),
        (lambda memory: memory.remove(1), [("lost", 0, 1, None)]),
        (lambda memory: memory.remove(1, 5, 5), []),
        (lambda memory: memory.remove(1, -1, 0), []),
        (lambda memory: memory.remove(-1, 2, 4), [("lost", 2, None, None)]),
        (lambda memory: memory.copy(0, 1, 2, 4), [("lost", 0, 1, None)]),
        (lambda memory: memory.copy(1, 1), []),
        (lambda memory: memory.keep(1), [("lost", 0, None, 1)]),
        (lambda memory: memory.add(0, 10, 20, -4), [("lost", 10, 0, None), ("lost", 6, 0, None)]),
        (lambda memory: memory.add(0, 10, 20, 0), []),
        (lambda memory: memory.divide(0, 10, 20, 2), [("lost", 5, 0, None)]),
        (lambda memory: memory.divide(0, 10, 20, 1), []),
    ],
)
def test_operations_on_memory(context: Context, recorder: Recorder, operation: Any, heard: list[Any]) -> None:
    operation(context.memory)
    assert recorder.heard == heard


def test_a_refused_cut_changes_nothing(native: FakeLlama, context: Context, recorder: Recorder) -> None:
    native.replace("llama_memory_seq_rm", lambda *_: False)
    assert context.memory is not None
    assert not context.memory.remove(0, 3, -1)
    assert recorder.heard == []


@pytest.mark.parametrize(
    ("code", "heard"), [(1, []), (-1, []), (2, [("lost", 0, 1, None)]), (-2, [("lost", 0, 1, None)]), (-3, [("lost", 0, 1, None)])]
)
def test_an_evaluation_that_fails_half_way_touches_the_sequences_of_its_batch(
    native: FakeLlama, context: Context, recorder: Recorder, code: int, heard: list[Any]
) -> None:
    native.code = code
    with pytest.raises(DecodeError):
        context.decode([1, 2], pos=0, seq_id=1)
    assert recorder.heard == heard


def test_an_evaluation_that_succeeds_touches_nothing_before_it(context: Context, recorder: Recorder) -> None:
    context.decode([1, 2])
    context.decode_one(3, 2)
    assert recorder.heard == []


def test_observers_are_closed_before_the_context(native: FakeLlama, context: Context, recorder: Recorder) -> None:
    native.calls.clear()
    recorder.heard = native.calls
    address = context.pointer
    context.model.close()
    assert native.calls[:2] == [("close",), ("free context", address)]


def test_observers_are_held_weakly() -> None:
    changes = Changes()
    heard = Recorder().heard
    changes.register(Recorder())
    gc.collect()
    changes.lost()
    assert heard == []


def test_who_is_unregistered_hears_no_more(context: Context, recorder: Recorder) -> None:
    context.changes.unregister(recorder)
    context.changes.device_state_replaced(0)
    assert recorder.heard == []


def test_a_context_is_found_by_its_address(context: Context) -> None:
    assert open_contexts[context.pointer] is context
