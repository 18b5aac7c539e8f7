from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from llama_cpp._engine.errors import InvalidArgumentError, MemoryOperationError, SequenceIdError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llama_cpp._engine.context import Context
    from tests.package.engine.fakes import FakeLlama


@pytest.fixture
def calls(native: FakeLlama) -> Any:
    made = []
    for name in ("clear", "seq_rm", "seq_cp", "seq_keep", "seq_add", "seq_div", "seq_pos_min"):
        native.replace(f"llama_memory_{name}", lambda _memory, *args, key=name: made.append((key, *args)) or 1)
    native.replace("llama_memory_can_shift", lambda _memory: native.shifts)
    native.shifts = True
    return made


@pytest.fixture
def context(native: FakeLlama, calls: Any) -> Iterator[Context]:  # noqa: ARG001 - it has to come first
    model = native.model()
    yield native.context(model)
    model.close()


def test_operations_reach_c(context: Context, calls: Any) -> None:
    memory = context.memory
    memory.clear()
    assert memory.remove(1, 2, 3) is True
    memory.remove(-1)
    memory.keep(0)
    memory.add(0, 1, 2, 3)
    memory.divide(0, 1, 2, 3)
    assert memory.pos_min(1) == 1
    assert calls == [
        ("clear", True),
        ("seq_rm", 1, 2, 3),
        ("seq_rm", 0, -1, -1),
        ("seq_rm", 1, -1, -1),
        ("seq_keep", 0),
        ("seq_rm", 1, -1, -1),  # of another stream
        ("seq_add", 0, 1, 2, 3),
        ("seq_div", 0, 1, 2, 3),
        ("seq_pos_min", 1),
    ]


@pytest.mark.parametrize("seq_id", [-2, 2, 256, 300])
def test_sequences_that_do_not_exist_never_reach_c(context: Context, calls: Any, seq_id: int) -> None:
    memory = context.memory
    for call in (
        lambda: memory.remove(seq_id),
        lambda: memory.copy(0, seq_id),
        lambda: memory.copy(seq_id, 0),
        lambda: memory.keep(seq_id),
        lambda: memory.add(seq_id, 0, 1, 1),
        lambda: memory.divide(seq_id, 0, 1, 2),
        lambda: memory.pos_min(seq_id),
        lambda: memory.pos_max(seq_id),
    ):
        with pytest.raises(SequenceIdError):
            call()
    assert calls == []


def test_between_streams_only_whole_sequences_are_copied(native: FakeLlama, context: Context, calls: Any) -> None:
    native.positions = {0: 9}
    for bounds in ((1, -1), (0, 5), (0, 9)):
        with pytest.raises(MemoryOperationError, match="kv_unified"):
            context.memory.copy(0, 1, *bounds)
    for bounds in ((0, -1), (-1, -1), (0, 10)):
        context.memory.copy(0, 1, *bounds)
    assert calls == [("seq_cp", 0, 1, -1, -1)] * 3
    context.memory.copy(0, 0, 1, 2)
    assert calls[-1] == ("seq_cp", 0, 0, 1, 2)


def test_a_unified_memory_copies_parts(native: FakeLlama, calls: Any) -> None:
    with native.model() as model:
        native.context(model, kv_unified=True).memory.copy(0, 1, 2, 3)
    assert calls == [("seq_cp", 0, 1, 2, 3)]


def test_positions_that_cannot_move(native: FakeLlama, context: Context, calls: Any) -> None:
    native.shifts = False
    for call in (lambda: context.memory.add(0, 0, 1, 1), lambda: context.memory.divide(0, 0, 1, 2)):
        with pytest.raises(MemoryOperationError, match="shift"):
            call()
    assert calls == []


@pytest.mark.parametrize("divisor", [0, -3])
def test_division_by_nothing(context: Context, divisor: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        context.memory.divide(0, 0, 1, divisor)
