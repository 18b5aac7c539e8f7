"""Which rows of logits or embeddings the last evaluation left behind, and reading them without copying.

Native code answers a wrong index with a null pointer or by ending the process, so indices are checked here.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from .errors import OutputIndexError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from llama_cpp._native.pointers import Pointer


class OutputRows:
    """The outputs of one evaluation: `count` rows, for the marked slots of a batch of `size`. A `count` of 0 says all.

    `given` is a row that no evaluation left: it came back with a state, and stands for the last one.
    """

    __slots__ = ("_marks", "count", "given", "size")

    def __init__(self) -> None:
        self.count = 0
        self.size = 0
        self.given: NDArray[np.float32] | None = None
        self._marks: NDArray[np.int8] | None = None

    def none(self) -> None:
        """No rows: nothing was evaluated, it failed, or memory holds something else now."""
        self.count, self.size, self._marks, self.given = 0, 0, None, None

    def give(self, logits: NDArray[np.float32]) -> None:
        """One row, which is not in native memory."""
        self.count, self.size, self._marks, self.given = 1, 1, None, logits

    def last(self, size: int) -> None:
        """One row, for the last of `size` slots."""
        self.count, self.size, self._marks, self.given = 1, size, None, None

    def marked(self, marks: NDArray[np.int8]) -> None:
        """A row for each slot whose mark is not 0."""
        self.count, self.size, self._marks, self.given = int(np.count_nonzero(marks)), len(marks), marks.copy(), None

    def check(self, index: int) -> int:
        """The index itself: a slot that has a row, or a negative number counting rows from the end."""
        if -self.count <= index < 0 or self._has_row(index):
            return index
        raise OutputIndexError(
            f'output {index} does not exist: the last evaluation left {self.count} of {self.size} rows; ask for more with outputs="all"'
        )

    def _has_row(self, index: int) -> bool:
        if not self.count or not 0 <= index < self.size:
            return False
        if self._marks is None:
            return index == self.size - 1
        return bool(self._marks[index])


def float_view(pointer: Pointer[ctypes.c_float], rows: int, columns: int) -> NDArray[np.float32]:
    """A float32 array of shape (rows, columns) over native memory, valid as long as that memory is."""
    buffer = (ctypes.c_float * (rows * columns)).from_address(ctypes.addressof(pointer.contents))
    return np.frombuffer(memoryview(buffer), np.float32).reshape(rows, columns)
