from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from llama_cpp._engine.errors import OutputIndexError
from llama_cpp._engine.outputs import OutputRows, float_view


def allowed(rows: Any, span: Any = 6) -> Any:
    found = []
    for index in range(-span, span):
        try:
            found.append(rows.check(index))
        except OutputIndexError:
            continue
    return found


def test_nothing_evaluated_has_no_rows() -> None:
    assert allowed(OutputRows()) == []


def test_only_the_last_slot() -> None:
    rows = OutputRows()
    rows.last(4)
    assert allowed(rows) == [-1, 3]
    rows.none()
    assert allowed(rows) == []


def test_marked_slots() -> None:
    rows = OutputRows()
    marks = np.array([1, 0, 1, 0], np.int8)
    rows.marked(marks)
    marks[:] = 1  # the batch is reused
    assert allowed(rows) == [-2, -1, 0, 2]
    assert rows.count == 2
    with pytest.raises(OutputIndexError, match="left 2 of 4 rows"):
        rows.check(1)


def test_a_view_copies_nothing() -> None:
    memory = (ctypes.c_float * 6)(*range(6))
    view = float_view(ctypes.cast(memory, ctypes.POINTER(ctypes.c_float)), 2, 3)
    memory[5] = 99
    assert view.tolist() == [[0, 1, 2], [3, 4, 99]]
    assert view.dtype == np.float32
