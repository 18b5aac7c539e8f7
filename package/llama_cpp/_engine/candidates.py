"""A reusable list of candidate tokens that samplers work on, shared between numpy and C."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from llama_cpp._native.bindings import llama

if TYPE_CHECKING:
    from numpy.typing import NDArray

CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
"""Layout of `llama_token_data`."""


class Candidates:
    """Room for `capacity` candidates: `data` is what C reads. Samplers shrink and reorder it in place."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._own: NDArray[Any] = np.zeros(capacity, CANDIDATE)
        self._id, self._logit, self._p = self._own["id"], self._own["logit"], self._own["p"]
        self._ids = np.arange(capacity, dtype=np.int32)
        self.struct = llama.llama_token_data_array()
        self._address = ctypes.cast(self._own.ctypes.data, ctypes.POINTER(llama.llama_token_data))
        self._reset(0)

    def fill(self, logits: NDArray[np.float32]) -> None:
        """One candidate per logit, with its index as token id."""
        count = len(logits)
        self._id[:count] = self._ids[:count]
        self._logit[:count] = logits
        self._reset(count)

    def fill_tokens(self, tokens: NDArray[np.integer[Any]] | list[int], logits: NDArray[np.float32] | float) -> None:
        """Candidates with the given ids."""
        count = len(tokens)
        self._id[:count] = tokens
        self._logit[:count] = logits
        self._reset(count)

    def _reset(self, count: int) -> None:
        self._p[:count] = 0
        self.struct.data = self._address  # a sampler may have pointed elsewhere
        self.struct.size = count
        self.struct.selected = -1
        self.struct.sorted = False

    @property
    def size(self) -> int:
        """How many candidates are left."""
        return int(self.struct.size)

    @property
    def data(self) -> NDArray[Any]:
        """The candidates that are left, as a structured array (id, logit, p) over what C sees now."""
        address = ctypes.cast(self.struct.data, ctypes.c_void_p).value
        if address == self._own.ctypes.data:
            return self._own[: self.size]
        buffer = (ctypes.c_char * (self.size * CANDIDATE.itemsize)).from_address(address or 0)
        return np.frombuffer(memoryview(buffer), CANDIDATE)

    @property
    def selected(self) -> int:
        """Where the selected candidate is; -1 when none was selected."""
        index = int(self.struct.selected)
        return index if 0 <= index < self.size else -1

    @property
    def selected_token(self) -> int:
        """The token id of the selected candidate; -1 when none was selected."""
        index = self.selected
        return -1 if index < 0 else int(self.struct.data[index].id)
