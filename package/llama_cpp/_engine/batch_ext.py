"""llama.cpp's growing batch (`llama_batch_ext`), to which entries are added one by one.

For long runs of tokens `batch.Batch` is the quicker one.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from llama_cpp._native.bindings import llama

from .errors import BatchSizeError, InvalidArgumentError, SamplerError, SequenceIdError
from .handle import Handle
from .returns import log_mark, require_pointer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from .context import Context

_FULL, _INVALID = -1, -2
_SECTIONS = 4  # of an M-RoPE position; others use the first only


class BatchExt(Handle[llama.llama_batch_ext_p]):
    """An owned batch for one context, with room for its `n_batch` entries: all tokens, or all embeddings."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._outputs: set[int] = set()
        self._size = 0
        self._next: dict[int, int] = {}  # the position that follows, by sequence
        mark = log_mark()
        pointer = llama.llama_batch_ext_init(context.pointer)
        pointer = require_pointer(pointer, SamplerError, "the batch could not be created", mark)
        self._own(pointer, llama.llama_batch_ext_free, parent=context)

    def __len__(self) -> int:
        return self._size

    @property
    def struct(self) -> llama.llama_batch_ext_p:
        """What native code reads."""
        return self.pointer

    @property
    def capacity(self) -> int:
        """How many entries fit."""
        return self.context.n_batch

    @property
    def outputs(self) -> NDArray[np.int8]:
        """Which entries leave rows."""
        marks = np.zeros(self._size, np.int8)
        marks[sorted(self._outputs)] = 1
        return marks

    @property
    def sequences(self) -> frozenset[int]:
        """The sequences that its tokens belong to."""
        return frozenset(self._next)

    def clear(self) -> None:
        """Forget the entries."""
        llama.llama_batch_ext_clear(self.pointer)
        self._size = 0
        self._outputs.clear()
        self._next.clear()

    def add_token(self, token: int, seq_ids: Sequence[int] = (0,), *, pos: Sequence[int] | int | None = None, output: bool = False) -> int:
        """Append a token; returns its index. `pos` None follows on what the sequence holds and what was added."""
        self.context.vocab.check(token)
        first = self._first(seq_ids)
        return self._finish(llama.llama_batch_ext_add_token(self.pointer, first, token), seq_ids, pos, output=output)

    def add_embedding(
        self, row: ArrayLike, seq_ids: Sequence[int] = (0,), *, pos: Sequence[int] | int | None = None, output: bool = False
    ) -> int:
        """Append an embedding, a row as wide as the context reads; returns its index."""
        values = np.ascontiguousarray(row, np.float32)
        first = self._first(seq_ids)
        data = values.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        native = llama.llama_embd(data=data, n_rows=1, n_embd=values.size)
        return self._finish(llama.llama_batch_ext_add_embd(self.pointer, first, native), seq_ids, pos, output=output)

    def set_output(self, index: int, value: bool = True) -> None:
        """Whether an entry leaves a row of logits or embeddings."""
        if not 0 <= index < self._size:
            raise InvalidArgumentError(f"entry {index} does not exist: the batch has {self._size}")
        llama.llama_batch_ext_set_output_logits(self.pointer, index, value)
        (self._outputs.add if value else self._outputs.discard)(index)

    def _first(self, seq_ids: Sequence[int]) -> int:
        for seq_id in seq_ids:
            if not 0 <= seq_id < self.context.n_seq_max:
                raise SequenceIdError(f"sequence {seq_id} does not exist: this context has n_seq_max={self.context.n_seq_max}")
        if not seq_ids:
            raise SequenceIdError("every entry of a batch needs a sequence")
        if self._size >= self.capacity:
            raise BatchSizeError(f"the batch is full: it holds {self.capacity} entries")
        return seq_ids[0]

    def _finish(self, index: int, seq_ids: Sequence[int], pos: Sequence[int] | int | None, *, output: bool) -> int:
        if index < 0:
            if index != _FULL:
                self.clear()  # native code keeps half an entry
            what = "the batch is full" if index == _FULL else "the entry is of another kind or width than the context reads"
            raise BatchSizeError(f"{what} (code {index})") if index in (_FULL, _INVALID) else SequenceIdError(f"code {index}")
        self._size = index + 1
        for seq_id in seq_ids[1:]:
            llama.llama_batch_ext_add_seq(self.pointer, index, seq_id)
        positions = self._following(seq_ids[0]) if pos is None else pos
        sections = [positions] * _SECTIONS if isinstance(positions, int) else [*positions, *[0] * _SECTIONS][:_SECTIONS]
        llama.llama_batch_ext_set_pos(self.pointer, index, (ctypes.c_int32 * _SECTIONS)(*sections))
        self._next.update(dict.fromkeys(seq_ids, sections[0] + 1))
        if output:
            self.set_output(index)
        return index

    def _following(self, seq_id: int) -> int:
        memory = self.context.memory
        return self._next.get(seq_id, memory.pos_max(seq_id) + 1 if memory is not None else 0)
