"""A context's memory (KV cache, recurrent state): sequence operations with their fatal cases refused first.

What to keep or to reuse between requests is decided by the features above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_cpp._native.bindings import llama

from .errors import InvalidArgumentError, MemoryOperationError, SequenceIdError

if TYPE_CHECKING:
    from .context import Context


class Memory:
    """Sequence operations on a live context. Ranges are [p0, p1); a negative bound means "from the start", "to the end"."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._n_seq_max = context.n_seq_max
        self._streams = self._n_seq_max > 1 and not context.kv_unified

    @property
    def pointer(self) -> llama.llama_memory_t:
        """The native address, borrowed from the context."""
        pointer = llama.llama_get_memory(self._context.pointer)
        if pointer is None:
            raise MemoryOperationError("this context has no memory")
        return pointer

    @property
    def can_shift(self) -> bool:
        """Whether positions can be moved (`add`, `divide`)."""
        return bool(llama.llama_memory_can_shift(self.pointer))

    def clear(self, *, data: bool = True) -> None:
        """Forget everything; with `data` the buffers are zeroed too."""
        llama.llama_memory_clear(self.pointer, data)
        self._context.changes.lost()

    def remove(self, seq_id: int, p0: int = -1, p1: int = -1) -> bool:
        """Remove a range of a sequence, or of all with seq_id -1; False when this memory cannot cut there.

        For recurrent, hybrid and sliding-window memory True does not prove that the rest is still usable.
        """
        if seq_id != -1:
            self._check(seq_id)
        each = range(self._n_seq_max) if seq_id == -1 else (seq_id,)  # recurrent memory knows no "all"
        removed = [bool(llama.llama_memory_seq_rm(self.pointer, one, p0, p1)) for one in each]
        if any(removed):
            self._context.changes.removed(seq_id, p0, p1)
        return all(removed)

    def copy(self, source: int, target: int, p0: int = -1, p1: int = -1) -> None:
        """Copy a range to another sequence. Between streams of their own (kv_unified off) only whole sequences."""
        self._check(source)
        self._check(target)
        if self._streams and source != target:
            if p0 > 0 or 0 <= p1 <= self.pos_max(source):
                raise MemoryOperationError("only whole sequences can be copied unless the context has kv_unified=True")
            p0 = p1 = -1
        llama.llama_memory_seq_cp(self.pointer, source, target, p0, p1)
        if source != target:
            self._context.changes.lost(0, target)

    def keep(self, seq_id: int) -> None:
        """Remove every other sequence."""
        self._check(seq_id)
        llama.llama_memory_seq_keep(self.pointer, seq_id)
        if self._streams:  # it only looks at the stream of the sequence that stays
            for other in set(range(self._n_seq_max)) - {seq_id}:
                llama.llama_memory_seq_rm(self.pointer, other, -1, -1)
        self._context.changes.lost(spared=seq_id)

    def add(self, seq_id: int, p0: int, p1: int, delta: int) -> None:
        """Shift the positions of a range."""
        self._check(seq_id)
        self._require_shift()
        llama.llama_memory_seq_add(self.pointer, seq_id, p0, p1, delta)
        if delta:
            self._context.changes.removed(seq_id, p0, p1)
            self._context.changes.removed(seq_id, max(p0, 0) + delta, -1)

    def divide(self, seq_id: int, p0: int, p1: int, divisor: int) -> None:
        """Divide the positions of a range."""
        self._check(seq_id)
        if divisor < 1:
            raise InvalidArgumentError(f"divisor {divisor} must be positive")
        self._require_shift()
        llama.llama_memory_seq_div(self.pointer, seq_id, p0, p1, divisor)
        if divisor > 1:
            self._context.changes.removed(seq_id, max(p0, 0) // divisor, -1)

    def pos_min(self, seq_id: int = 0) -> int:
        """The first position that memory still holds completely; -1 when the sequence is empty."""
        self._check(seq_id)
        return int(llama.llama_memory_seq_pos_min(self.pointer, seq_id))

    def pos_max(self, seq_id: int = 0) -> int:
        """The last position; -1 when the sequence is empty."""
        self._check(seq_id)
        return int(llama.llama_memory_seq_pos_max(self.pointer, seq_id))

    def _check(self, seq_id: int) -> None:
        if not 0 <= seq_id < self._n_seq_max:
            raise SequenceIdError(f"sequence {seq_id} does not exist: this context has n_seq_max={self._n_seq_max}")

    def _require_shift(self) -> None:
        if not self.can_shift:
            raise MemoryOperationError("this context's memory cannot shift positions")
