"""A reusable `llama_batch` whose memory belongs to numpy: filling it costs array copies, never a loop.

Which tokens go in, and what came out, is the business of `context`.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from llama_cpp._native.bindings import llama

from .errors import BatchSizeError, InvalidArgumentError, SequenceIdError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .context import Context

Outputs = Literal["last", "all", "none"]
_M_ROPE_SECTIONS = 4
_READ_FEATURES = ("dflash", "eagle3")  # draft models, which read rows of their target's layers
_MAX_SEQUENCES = 256  # LLAMA_MAX_SEQ: a constant of llama.cpp's build


class Batch:
    """Room for `capacity` tokens, or embedding rows of width `n_embd`, each in up to `n_seq_max` sequences.

    The arrays are views of what C reads: `tokens`, `positions`, `n_seq_ids` and `outputs` have one entry per
    slot, `seq_ids` has shape (capacity, n_seq_max), `embeddings` (capacity, n_embd). Only the first `size`
    slots count. With `n_positions` > 1 (M-RoPE embeddings) `positions` holds that many sections of `size`. A `mixed` batch
    has a token and an embedding in every slot.
    """

    def __init__(self, capacity: int, *, n_seq_max: int = 1, n_embd: int = 0, n_positions: int = 1, mixed: bool = False) -> None:
        if capacity < 1:
            raise BatchSizeError(f"a batch needs room for at least one token, not {capacity}")
        if not 1 <= n_seq_max <= _MAX_SEQUENCES:
            raise SequenceIdError(f"n_seq_max={n_seq_max} is out of range: 1 to {_MAX_SEQUENCES}")
        self.capacity = capacity
        self.n_positions = n_positions
        self.has_tokens = mixed or not n_embd
        self.tokens: NDArray[np.int32] = np.zeros(capacity, np.int32)
        self.embeddings: NDArray[np.float32] | None = np.zeros((capacity, n_embd), np.float32) if n_embd else None
        self.positions: NDArray[np.int32] = np.zeros(capacity * n_positions, np.int32)
        self.n_seq_ids: NDArray[np.int32] = np.ones(capacity, np.int32)
        self.seq_ids: NDArray[np.int32] = np.zeros((capacity, n_seq_max), np.int32)
        self.outputs: NDArray[np.int8] = np.zeros(capacity, np.int8)
        self._ramp = np.arange(capacity, dtype=np.int32)
        # llama_batch.seq_id is an array of pointers, one to each row of seq_ids
        self._rows = self.seq_ids.ctypes.data + np.arange(capacity, dtype=np.uintp) * self.seq_ids.strides[0]
        self.struct = self._make_struct()

    def _make_struct(self) -> Any:
        struct = llama.llama_batch()
        if self.has_tokens:
            _point(struct, "token", self.tokens)
        if self.embeddings is not None:
            _point(struct, "embd", self.embeddings)
        _point(struct, "pos", self.positions)
        _point(struct, "n_seq_id", self.n_seq_ids)
        _point(struct, "seq_id", self._rows)
        _point(struct, "logits", self.outputs)
        return struct

    def check_rows(self, context: Context) -> None:
        """`InvalidArgumentError` when native code would read beyond the embeddings or the positions of this batch."""
        if self.embeddings is None:
            return
        model = context.model
        width = model.n_embd_out if context.params.ctx_type == llama.LLAMA_CONTEXT_TYPE_MTP else model.n_embd_inp
        if self.embeddings.shape[1] != width and model.metadata.get("general.architecture") not in _READ_FEATURES:
            raise InvalidArgumentError(f"rows of {self.embeddings.shape[1]} values do not fit: this model reads {width}")
        sections = _M_ROPE_SECTIONS if model.rope_type in (llama.LLAMA_ROPE_TYPE_MROPE, llama.LLAMA_ROPE_TYPE_IMROPE) else 1
        if not self.has_tokens and self.n_positions < sections:
            raise InvalidArgumentError(f"each row has {sections} positions with this model; make the batch with n_positions={sections}")

    @property
    def size(self) -> int:
        """How many slots are filled."""
        return int(self.struct.n_tokens)

    @size.setter
    def size(self, value: int) -> None:
        if not 0 <= value <= self.capacity:
            raise BatchSizeError(f"{value} tokens do not fit a batch of {self.capacity}")
        self.struct.n_tokens = value

    @property
    def sequences(self) -> frozenset[int]:
        """The sequences that its tokens belong to."""
        ids = self.seq_ids[: self.size]
        return frozenset(ids[np.arange(ids.shape[1]) < self.n_seq_ids[: self.size, np.newaxis]].tolist())

    def clear(self) -> None:
        """Forget the contents."""
        self.struct.n_tokens = 0

    def fill(self, tokens: NDArray[np.int32], *, pos: int, seq_id: int = 0, outputs: Outputs = "last") -> None:
        """Replace the contents: consecutive positions from `pos` in one sequence."""
        self.clear()
        self.append(tokens, pos=pos, seq_id=seq_id, outputs=outputs)

    def append(self, tokens: NDArray[np.int32], *, pos: int, seq_id: int = 0, outputs: Outputs = "last") -> None:
        """Add a run of tokens: consecutive positions from `pos` in one sequence."""
        if not self.has_tokens:
            raise InvalidArgumentError("this batch holds embeddings; fill its arrays instead")
        count, start = len(tokens), self.size
        self.size = end = start + count
        self.tokens[start:end] = tokens
        np.add(self._ramp[:count], pos, out=self.positions[start:end])
        self.n_seq_ids[start:end] = 1
        self.seq_ids[start:end, 0] = seq_id
        self.outputs[start:end] = outputs == "all"
        if outputs == "last" and count:
            self.outputs[end - 1] = 1

    def add(self, token: int, *, pos: int, seq_ids: tuple[int, ...] = (0,), output: bool = False) -> int:
        """Append one token; returns its slot. For long runs fill the arrays."""
        slot = self.size
        if not 1 <= len(seq_ids) <= self.seq_ids.shape[1]:
            raise SequenceIdError(f"a token of this batch is in 1 to {self.seq_ids.shape[1]} sequences, not {len(seq_ids)}")
        self.size = slot + 1
        self.tokens[slot] = token
        self.positions[slot] = pos
        self.n_seq_ids[slot] = len(seq_ids)
        self.seq_ids[slot, : len(seq_ids)] = seq_ids
        self.outputs[slot] = output
        return slot


def _point(struct: Any, name: str, array: NDArray[Any]) -> None:
    setattr(struct, name, ctypes.cast(array.ctypes.data, dict(type(struct)._fields_)[name]))
