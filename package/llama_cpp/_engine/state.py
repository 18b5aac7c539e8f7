"""Saving what a context holds, and restoring it: the whole of it or one sequence, as bytes or as a file.

Logits are in no state. What belongs to which model, and what a restored state means for a request, is decided by the
features above.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llama_cpp._native.bindings import llama

from .errors import InvalidArgumentError, SequenceIdError, StateError
from .memory import Memory
from .returns import log_mark, require_true

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from llama_cpp._native.pointers import Pointer

    from .context import Context
    from .vocab import Tokens

PARTIAL_ONLY = llama.LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY
"""Only what cannot be cut: recurrent state, the cells of a sliding window."""
ON_DEVICE = llama.LLAMA_STATE_SEQ_FLAGS_ON_DEVICE
"""Tensors stay in buffers of the context, one set per sequence; the bytes say only what is in them."""

_bytes_of_size = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t)(("PyBytes_FromStringAndSize", ctypes.pythonapi))
"""Python's own way to bytes whose content comes later (with a null pointer in place of it)."""


class State:
    """The state of a live context. Every `restore` that fails raises `StateError`, and leaves the memory it wrote to empty."""

    def __init__(self, context: Context) -> None:
        self._context = context

    @property
    def size(self) -> int:
        """Bytes that `save` would return now."""
        return int(llama.llama_state_get_size(self._context.pointer))

    def save(self) -> bytes:
        """Everything that memory holds."""
        pointer, size = self._context.pointer, self.size
        saved = _new_bytes(size)
        mark = log_mark()
        written = int(llama.llama_state_get_data(pointer, _address(saved), size))
        require_true(0 < written <= size, StateError, "the state could not be saved", mark)
        return saved if written == size else saved[:written]

    def restore(self, data: Buffer) -> None:
        """Replace what memory holds by what `save` returned, here or in a context of the same model and sizes."""
        pointer, source = self._context.pointer, bytes(data)
        mark = log_mark()
        self._context.changes.lost()
        read = int(llama.llama_state_set_data(pointer, _address(source), len(source)))
        if read != len(source):
            self._forget(-1)
        require_true(read == len(source), StateError, "the state could not be restored: it is damaged, or of another kind of context", mark)

    def sequence_size(self, seq_id: int, flags: int = 0) -> int:
        """Bytes that `save_sequence` would return now."""
        return int(llama.llama_state_seq_get_size_ext(self._context.pointer, self._checked(seq_id), _flags(flags)))

    def save_sequence(self, seq_id: int, flags: int = 0) -> bytes:
        """What memory holds of one sequence. With `ON_DEVICE` it can be restored until the same sequence is saved so again."""
        pointer, size = self._context.pointer, self.sequence_size(seq_id, flags)
        saved = _new_bytes(size)
        mark = log_mark()
        if flags & ON_DEVICE:
            self._context.changes.device_state_replaced(seq_id)
            self._context.device_states.pop(seq_id, None)
        written = int(llama.llama_state_seq_get_data_ext(pointer, _address(saved), size, seq_id, flags))
        require_true(0 < written <= size, StateError, f"sequence {seq_id} could not be saved", mark)
        saved = saved if written == size else saved[:written]
        if flags & ON_DEVICE:
            self._context.device_states[seq_id] = (saved, flags)
        return saved

    def restore_sequence(self, seq_id: int, data: Buffer, flags: int = 0) -> None:
        """Replace what memory holds of a sequence by what `save_sequence` returned, for this one or another.

        What stays on the device has to be the last state that was saved so, with the same flags: native code ends the
        process for any other.
        """
        self._context.changes.lost(0, self._checked(seq_id))
        self._restore_sequence(seq_id, data, flags)

    def rewind(self, seq_id: int, data: Buffer, flags: int, length: int) -> None:
        """Bring a sequence back to its first `length` positions, after which `save_sequence` returned `data` with `PARTIAL_ONLY`.

        The part that cannot be cut is restored, and the rest of the memory cut. Raises `StateError`, with the sequence
        forgotten, when memory does not hold exactly those positions afterwards.
        """
        self._restore_sequence(self._checked(seq_id), data, flags)
        memory = Memory(self._context)
        if not memory.remove(seq_id, length, -1) or memory.pos_max(seq_id) != length - 1:
            self._forget(seq_id)
            raise StateError(f"sequence {seq_id} could not be brought back to position {length}: memory does not hold what came before")

    def _restore_sequence(self, seq_id: int, data: Buffer, flags: int) -> None:
        pointer, source = self._context.pointer, bytes(data)
        if _flags(flags) & ON_DEVICE and (source, flags) not in self._context.device_states.values():
            raise StateError("the state is not on the device: it was never saved there with these flags, or replaced by a later one")
        mark = log_mark()
        read = int(llama.llama_state_seq_set_data_ext(pointer, _address(source), len(source), seq_id, flags))
        if read != len(source):
            self._forget(seq_id)
        message = f"sequence {seq_id} could not be restored: the state is damaged, or of another kind of context"
        require_true(read == len(source), StateError, message, mark)

    def save_file(self, path: str | os.PathLike[str], tokens: Tokens = ()) -> None:
        """Everything that memory holds, with the tokens that it came from, as a session file."""
        ids = self._context.vocab.check_all(tokens)
        mark = log_mark()
        done = llama.llama_state_save_file(self._context.pointer, _path(path), _ids(ids), len(ids))
        require_true(done, StateError, f"the state could not be saved to {path}", mark)

    def load_file(self, path: str | os.PathLike[str], capacity: int | None = None) -> list[int]:
        """Replace what memory holds by a session file; returns the tokens in it, of which there may be `capacity` at most."""
        ids = (ctypes.c_int32 * (self._context.n_ctx if capacity is None else capacity))()
        count = ctypes.c_size_t(0)
        mark = log_mark()
        self._context.changes.lost()
        done = llama.llama_state_load_file(self._context.pointer, _existing(path), ids, len(ids), ctypes.byref(count))
        if not done:
            self._forget(-1)
        require_true(done, StateError, f"the state could not be restored from {path}", mark)
        return list(ids[: count.value])

    def save_sequence_file(self, path: str | os.PathLike[str], seq_id: int, tokens: Tokens = ()) -> int:
        """What memory holds of one sequence, with its tokens, as a file; returns its size."""
        ids = self._context.vocab.check_all(tokens)
        mark = log_mark()
        pointer, seq_id = self._context.pointer, self._checked(seq_id)
        written = int(llama.llama_state_seq_save_file(pointer, _path(path), seq_id, _ids(ids), len(ids)))
        require_true(written > 0, StateError, f"sequence {seq_id} could not be saved to {path}", mark)
        return written

    def load_sequence_file(self, path: str | os.PathLike[str], seq_id: int, capacity: int | None = None) -> list[int]:
        """Replace what memory holds of a sequence by a file of `save_sequence_file`; returns the tokens in it."""
        ids = (ctypes.c_int32 * (self._context.n_ctx if capacity is None else capacity))()
        count = ctypes.c_size_t(0)
        mark = log_mark()
        pointer, seq_id = self._context.pointer, self._checked(seq_id)
        self._context.changes.lost(0, seq_id)
        read = int(llama.llama_state_seq_load_file(pointer, _existing(path), seq_id, ids, len(ids), ctypes.byref(count)))
        if not read:
            self._forget(seq_id)
        require_true(read > 0, StateError, f"sequence {seq_id} could not be restored from {path}", mark)
        return list(ids[: count.value])

    def _checked(self, seq_id: int) -> int:
        if not 0 <= seq_id < self._context.n_seq_max:
            raise SequenceIdError(f"sequence {seq_id} does not exist: this context has n_seq_max={self._context.n_seq_max}")
        return seq_id

    def _forget(self, seq_id: int) -> None:
        """After a failure native code may have left a part of a state."""
        memory = self._context.memory
        if memory is None:
            return
        if seq_id < 0:
            memory.clear()
        else:
            memory.remove(seq_id)


def _new_bytes(size: int) -> bytes:
    """Bytes that native code is going to fill, once, before anyone else sees them: what is saved may take gigabytes."""
    made: bytes = _bytes_of_size(None, size)
    return made


def _address(data: bytes) -> Pointer[ctypes.c_uint8]:
    return ctypes.cast(ctypes.c_char_p(data), ctypes.POINTER(ctypes.c_uint8))


def _ids(tokens: NDArray[np.int32]) -> ctypes.Array[ctypes.c_int32]:
    ids = (ctypes.c_int32 * len(tokens))()
    ids[:] = tokens.tolist()
    return ids


def _flags(flags: int) -> int:
    if flags & ~(PARTIAL_ONLY | ON_DEVICE):
        raise InvalidArgumentError(f"unknown flags {flags:#x} of a sequence's state")
    return flags


def _path(path: str | os.PathLike[str]) -> bytes:
    text = os.fsencode(path)
    if b"\0" in text or not Path(os.fsdecode(path)).absolute().parent.is_dir():
        raise StateError(f"the state cannot be written to {path}: there is no such folder")
    return text


def _existing(path: str | os.PathLike[str]) -> bytes:
    text = os.fsencode(path)
    if b"\0" in text or not Path(os.fsdecode(path)).is_file():
        raise StateError(f"there is no state file {path}")
    return text
