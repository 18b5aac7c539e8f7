from __future__ import annotations

import gc
import subprocess
import sys
import warnings
import weakref
from typing import Any

import pytest

from llama_cpp._engine.errors import ClosedError
from llama_cpp._engine.handle import Handle, live_handles


class Owned(Handle):
    def __init__(self, pointer: Any, log: list[int], parent: Any = None) -> None:
        self._own(pointer, log.append, parent=parent)


class HalfBuilt(Handle):
    def __init__(self) -> None:
        raise ValueError("before the pointer was taken")


@pytest.fixture
def log() -> list[int]:
    return []


def test_close_frees_once(log: list[int]) -> None:
    handle = Owned(7, log)
    assert (handle.pointer, handle.closed, live_handles()) == (7, False, 1)
    handle.close()
    handle.close()
    assert log == [7]
    assert handle.closed
    with pytest.raises(ClosedError, match="Owned is closed"):
        _ = handle.pointer
    assert repr(handle) == "<Owned closed>"


def test_children_close_first_and_the_newest_first(log: list[int]) -> None:
    parent = Owned(1, log)
    children = [Owned(2, log, parent), Owned(3, log, parent)]
    grandchild = Owned(4, log, children[0])
    parent.close()
    assert log == [3, 4, 2, 1]
    assert all(each.closed for each in (*children, grandchild))
    for each in (*children, grandchild):
        each.close()
    assert log == [3, 4, 2, 1]


def test_a_closed_child_is_forgotten_by_its_parent(log: list[int]) -> None:
    with Owned(1, log) as parent:
        for pointer in range(2, 50):
            Owned(pointer, log, parent).close()
        assert len(parent._ownership.children) <= 1
    assert log == [*range(2, 50), 1]


def test_attaching_later_orders_the_frees(log: list[int]) -> None:
    child, parent = Owned(1, log), Owned(2, log)
    child._attach(parent)
    parent.close()
    assert log == [1, 2]


def test_a_closed_parent_is_refused(log: list[int]) -> None:
    parent = Owned(1, log)
    parent.close()
    with pytest.raises(ClosedError):
        Owned(2, log, parent)


def test_release_gives_the_pointer_away(log: list[int]) -> None:
    handle = Owned(5, log)
    assert handle.release() == 5
    assert handle.closed
    handle.close()
    assert log == []
    with pytest.raises(ClosedError):
        handle.release()


def test_a_child_keeps_its_parent_alive(log: list[int]) -> None:
    parent = Owned(1, log)
    child = Owned(2, log, parent)
    reference = weakref.ref(parent)
    del parent
    gc.collect()
    assert reference() is not None
    assert log == []
    with pytest.warns(ResourceWarning):  # the parent was never closed, and goes with its last child
        child.close()
    assert log == [2, 1]


def test_the_garbage_collector_frees_in_order_and_warns(log: list[int]) -> None:
    parent = Owned(1, log)
    child = Owned(2, log, parent)
    parent.cycle = child.cycle = [parent, child]
    del parent, child
    with pytest.warns(ResourceWarning, match="Owned was never closed"):
        gc.collect()
    assert log == [2, 1]


def test_a_warning_turned_into_an_error_does_not_keep_the_memory(log: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Owned(1, log)
    assert log == [1]


def test_a_half_built_object_is_silent(recwarn: pytest.WarningsRecorder) -> None:
    with pytest.raises(ValueError, match="before"):
        HalfBuilt()
    half = HalfBuilt.__new__(HalfBuilt)
    half.close()
    assert half.closed
    with pytest.raises(ClosedError):
        _ = half.pointer
    del half
    gc.collect()
    assert not recwarn.list


def test_what_is_kept_lives_until_the_free() -> None:
    class Thing:
        pass

    thing = Thing()
    reference = weakref.ref(thing)
    alive = []

    class Keeper(Handle):
        def __init__(self, kept: Any) -> None:
            self._own(1, lambda _: alive.append(reference() is not None), keep=(kept,))

    keeper = Keeper(thing)
    del thing
    keeper.close()
    assert alive == [True]
    assert reference() is None


EXIT = """
import sys, threading, time
from llama_cpp._engine.handle import Handle
class Owned(Handle):
    def __init__(self, pointer, parent=None):
        self._own(pointer, lambda p: print("freed", p), parent=parent)
model = Owned(1)
context = Owned(2, model)
other = Owned(3)
if "thread" in sys.argv:
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
"""


@pytest.mark.parametrize(("mode", "freed"), [("plain", {"freed 2", "freed 1", "freed 3"}), ("thread", set())])
def test_exit_frees_in_order_and_says_nothing(mode: str, freed: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", EXIT, mode],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert set(lines) == freed
    if mode == "plain":
        assert lines.index("freed 2") < lines.index("freed 1")
