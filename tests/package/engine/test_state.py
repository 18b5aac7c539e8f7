from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import pytest

from llama_cpp._engine.errors import InvalidArgumentError, SequenceIdError, StateError, TokenRangeError
from llama_cpp._engine.state import ON_DEVICE, PARTIAL_ONLY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from llama_cpp._engine.context import Context
    from tests.package.engine.fakes import FakeLlama


class States:
    """Native states: `content` is what is saved; what begins with it is restored. `forgotten` are sequences that were removed."""

    def __init__(self, native: FakeLlama) -> None:
        self.content = b"a state"
        self.restored: list[Any] = []
        self.forgotten: list[Any] = []
        native.replace("llama_state_get_size", lambda _: len(self.content) + 3)
        native.replace("llama_state_get_data", lambda _, target, size: self.save(target, size))
        native.replace("llama_state_set_data", lambda _, source, size: self.restore(source, size))
        native.replace("llama_state_seq_get_size_ext", lambda *_: len(self.content))
        native.replace("llama_state_seq_get_data_ext", lambda _, target, size, seq_id, flags: self.save(target, size, seq_id, flags))
        native.replace("llama_state_seq_set_data_ext", lambda _, source, size, seq_id, flags: self.restore(source, size, seq_id, flags))
        native.replace("llama_memory_clear", lambda *_: self.forgotten.append("all"))
        native.replace("llama_memory_seq_rm", lambda _, seq_id, *__: self.forgotten.append(seq_id) or True)

    def save(self, target: Any, size: int, *_: int) -> int:
        ctypes.memmove(target, self.content, len(self.content))
        return len(self.content) if size >= len(self.content) else 0

    def restore(self, source: Any, size: int, *where: int) -> int:
        data = ctypes.string_at(source, size)
        self.restored.append((data, *where))
        return size if data == self.content else 0


@pytest.fixture
def states(native: FakeLlama) -> States:
    return States(native)


@pytest.fixture
def context(native: FakeLlama, states: States) -> Iterator[Context]:  # noqa: ARG001 - it has to come first
    with native.model() as model:
        yield native.context(model)


def test_the_whole(context: Context, states: States) -> None:
    saved = context.state.save()
    assert saved == states.content
    context.state.restore(saved)
    context.state.restore(bytearray(saved))
    assert states.restored == [(saved,)] * 2
    assert states.forgotten == []


def test_a_whole_that_does_not_fit_leaves_nothing(context: Context, states: States) -> None:
    with pytest.raises(StateError, match="damaged"):
        context.state.restore(b"another")
    assert states.forgotten == ["all"]


def test_one_sequence(context: Context, states: States) -> None:
    saved = context.state.save_sequence(1, PARTIAL_ONLY)
    context.state.restore_sequence(0, saved, PARTIAL_ONLY)
    assert states.restored == [(saved, 0, PARTIAL_ONLY)]
    with pytest.raises(StateError, match="sequence 0"):
        context.state.restore_sequence(0, b"another")
    assert states.forgotten == [0]


def test_what_is_on_the_device_can_be_restored_until_it_is_replaced(context: Context, states: States) -> None:
    first = context.state.save_sequence(1, ON_DEVICE)
    context.state.restore_sequence(0, first, ON_DEVICE)
    for data, flags in ((b"garbage", ON_DEVICE), (first, ON_DEVICE | PARTIAL_ONLY)):
        with pytest.raises(StateError, match="not on the device"):
            context.state.restore_sequence(0, data, flags)
    states.content = b"a later one"
    context.state.save_sequence(1, ON_DEVICE)
    with pytest.raises(StateError, match="not on the device"):
        context.state.restore_sequence(0, first, ON_DEVICE)
    assert [data for data, *_ in states.restored] == [first], "native code would have ended the process"


@pytest.mark.parametrize("seq_id", [-1, 2, 300])
def test_sequences_out_of_range(context: Context, states: States, seq_id: int) -> None:
    state = context.state
    for call in (
        lambda: state.sequence_size(seq_id),
        lambda: state.save_sequence(seq_id),
        lambda: state.restore_sequence(seq_id, b""),
        lambda: state.save_sequence_file("x", seq_id),
    ):
        with pytest.raises(SequenceIdError):
            call()
    assert states.restored == []


def test_flags_that_do_not_exist(context: Context) -> None:
    with pytest.raises(InvalidArgumentError, match="0x40"):
        context.state.save_sequence(0, 64)


def test_files(native: FakeLlama, context: Context, states: States, tmp_path: Path) -> None:
    kept: dict[str, list[int]] = {}

    def save(_: Any, path: bytes, *arguments: Any) -> int:
        *_, tokens, count = arguments
        kept[path.decode()] = tokens[:count]
        return 9

    def load(_: Any, path: bytes, *arguments: Any) -> int:
        *_, tokens, capacity, count = arguments
        found = kept.get(path.decode())
        if found is None or len(found) > capacity:
            return 0
        tokens[: len(found)] = found
        count._obj.value = len(found)
        return 9

    for name in ("", "_seq"):
        native.replace(f"llama_state{name}_save_file", save)
        native.replace(f"llama_state{name}_load_file", load)
    whole, one, other = tmp_path / "whole", tmp_path / "one", tmp_path / "other"
    for path in (whole, one, other):
        path.touch()
    context.state.save_file(whole, [1, 2])
    assert context.state.load_file(whole) == [1, 2]
    assert context.state.save_sequence_file(one, 1, [3]) == 9
    assert context.state.load_sequence_file(one, 0) == [3]
    for load_it, forgotten in (
        (lambda: context.state.load_file(other), "all"),
        (lambda: context.state.load_file(whole, 1), "all"),
        (lambda: context.state.load_sequence_file(other, 1), 1),
    ):
        with pytest.raises(StateError, match="could not be restored"):
            load_it()
        assert states.forgotten[-1] == forgotten


def test_files_that_native_code_never_sees(context: Context, tmp_path: Path) -> None:
    state = context.state
    with pytest.raises(StateError, match="no state file"):
        state.load_file(tmp_path / "missing")
    with pytest.raises(StateError, match="no such folder"):
        state.save_file(tmp_path / "missing" / "file")
    with pytest.raises(TokenRangeError):
        state.save_file(tmp_path / "file", [9999])
