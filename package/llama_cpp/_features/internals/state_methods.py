"""The part of `LlamaContext` that saves and restores states.

A state that cannot be restored raises `StateError`, and leaves what it was to replace empty. Buffers may be anything that
holds bytes; `size` then is how many of them count.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from llama_cpp._engine.errors import InvalidArgumentError

from .context_core import ContextCore

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence


class StateMethods(ContextCore):
    """Whole states, sequences, and those with flags (`LLAMA_STATE_SEQ_FLAGS_*`)."""

    def get_state_size(self) -> int:
        """Bytes of the whole state now."""
        with self._lock:
            return self.engine.state.size

    def get_state_data(self, dst: Any = None, size: int | None = None) -> Any:
        """The whole state as bytes; or written to a ctypes array `dst` of `size` bytes, and how many they are."""
        with self._lock:
            return _deliver(self.engine.state.save(), dst, size)

    def set_state_data(self, src: Any, size: int | None = None) -> int:
        """Replace what memory holds by a state; returns its size."""
        data = _bytes(src, size)
        with self._changing():
            self.engine.state.restore(data)
        return len(data)

    def save_state_file(self, path_session: str | os.PathLike[str], tokens: Sequence[int] = (), n_token_count: int | None = None) -> bool:
        """Write a session file: the whole state, and the tokens that it came from."""
        with self._lock:
            self.engine.state.save_file(path_session, list(tokens)[:n_token_count])
        return True

    def load_state_file(
        self,
        path_session: str | os.PathLike[str],
        tokens_out: Any = None,
        n_token_capacity: int | None = None,
        n_token_count_out: Any = None,
    ) -> list[int]:
        """Replace what memory holds by a session file; returns its tokens, and writes them to `tokens_out` where that is given."""
        with self._changing():
            tokens = self.engine.state.load_file(path_session, n_token_capacity)
        return _deliver_tokens(tokens, tokens_out, n_token_count_out)

    def get_state_seq_size(self, seq_id: int) -> int:
        """Bytes of a sequence's state now."""
        return self.get_state_seq_size_ext(seq_id, 0)

    def get_state_seq_data(self, dst: Any = None, size: int | None = None, seq_id: int = 0) -> Any:
        """A sequence's state: see `get_state_data`."""
        return self.get_state_seq_data_ext(dst, size, seq_id, 0)

    def set_state_seq_data(self, src: Any, size: int | None = None, dest_seq_id: int = 0) -> int:
        """Replace what memory holds of a sequence: see `set_state_data`."""
        return self.set_state_seq_data_ext(src, size, dest_seq_id, 0)

    def get_state_seq_size_ext(self, seq_id: int, flags: int) -> int:
        """Bytes of a sequence's state with these flags."""
        with self._lock:
            return self.engine.state.sequence_size(seq_id, flags)

    def get_state_seq_data_ext(self, dst: Any = None, size: int | None = None, seq_id: int = 0, flags: int = 0) -> Any:
        """A sequence's state with these flags."""
        with self._lock:
            return _deliver(self.engine.state.save_sequence(seq_id, flags), dst, size)

    def set_state_seq_data_ext(self, src: Any, size: int | None = None, dest_seq_id: int = 0, flags: int = 0) -> int:
        """Replace what memory holds of a sequence by a state that was saved with the same flags."""
        data = _bytes(src, size)
        with self._changing(dest_seq_id):
            self.engine.state.restore_sequence(dest_seq_id, data, flags)
        return len(data)

    def save_state_seq_file(
        self, filepath: str | os.PathLike[str], seq_id: int, tokens: Sequence[int] = (), n_token_count: int | None = None
    ) -> int:
        """Write a sequence's state and tokens to a file; returns its size."""
        with self._lock:
            return self.engine.state.save_sequence_file(filepath, seq_id, list(tokens)[:n_token_count])

    def load_state_seq_file(
        self,
        filepath: str | os.PathLike[str],
        dest_seq_id: int,
        tokens_out: Any = None,
        n_token_capacity: int | None = None,
        n_token_count_out: Any = None,
    ) -> list[int]:
        """Replace what memory holds of a sequence by a file; returns its tokens, as `load_state_file` does."""
        with self._changing(dest_seq_id):
            tokens = self.engine.state.load_sequence_file(filepath, dest_seq_id, n_token_capacity)
        return _deliver_tokens(tokens, tokens_out, n_token_count_out)


def _deliver(data: bytes, target: Any, size: int | None) -> Any:
    if target is None:
        return data
    room = ctypes.sizeof(target) if size is None else size
    if isinstance(target, ctypes.Array):
        room = min(room, ctypes.sizeof(target))
    if len(data) > room:
        raise InvalidArgumentError(f"a state of {len(data)} bytes does not fit a buffer of {room}")
    ctypes.memmove(target, data, len(data))
    return len(data)


def _bytes(source: Any, size: int | None) -> bytes:
    if isinstance(source, ctypes._Pointer):  # noqa: SLF001 - ctypes has no other name for it
        if size is None:
            raise InvalidArgumentError("a pointer needs the number of bytes")
        return ctypes.string_at(source, size)
    data = bytes(memoryview(source).cast("B"))
    if size is not None and size > len(data):
        raise InvalidArgumentError(f"the buffer has {len(data)} bytes, not {size}")
    return data[:size]


def _deliver_tokens(tokens: list[int], target: Any, count: Any) -> list[int]:
    if target is not None:
        target[: len(tokens)] = tokens
    if count is not None:
        getattr(count, "_obj", count).value = len(tokens)  # byref(…) or the number itself
    return tokens
