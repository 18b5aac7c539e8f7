"""The part of `LlamaContext` that edits memory, under the names of both lineages.

Ranges are [p0, p1); a negative bound means "from the start" or "to the end". `seq_id` -1 stands for all sequences where that
is said. A context without memory raises `MemoryOperationError`.
"""

from __future__ import annotations

from .context_core import ALL_SEQUENCES, ContextCore


class MemoryMethods(ContextCore):
    """What native code would end the process for raises before it gets there."""

    def memory_clear(self, data: bool = True) -> None:
        """Forget everything; with `data` the buffers are zeroed too."""
        with self._changing():
            self._memory.clear(data=data)

    def memory_seq_rm(self, seq_id: int, p0: int, p1: int) -> bool:
        """Remove a range of a sequence (-1: of all); False where this kind of memory cannot be cut.

        For recurrent, hybrid and sliding-window memory True does not prove that the rest is still usable.
        """
        with self._lock:
            whole = p0 <= 0
            kept = 0 if whole or self._ledger is None or not self._ledger.can_keep(p0) else p0
            with self._changing(seq_id, keep=kept):
                return self._memory.remove(seq_id, p0, p1)

    def memory_seq_cp(self, seq_id_src: int, seq_id_dst: int, p0: int, p1: int) -> None:
        """Copy a range to another sequence."""
        with self._changing(seq_id_dst):
            self._memory.copy(seq_id_src, seq_id_dst, p0, p1)

    def memory_seq_keep(self, seq_id: int) -> None:
        """Remove every other sequence."""
        with self._changing(ALL_SEQUENCES):
            self._memory.keep(seq_id)

    def memory_seq_add(self, seq_id: int, p0: int, p1: int, delta: int) -> None:
        """Shift the positions of a range."""
        with self._changing(seq_id):
            self._memory.add(seq_id, p0, p1, delta)

    def memory_seq_div(self, seq_id: int, p0: int, p1: int, d: int) -> None:
        """Divide the positions of a range."""
        with self._changing(seq_id):
            self._memory.divide(seq_id, p0, p1, d)

    def memory_seq_pos_min(self, seq_id: int) -> int:
        """The first position of a sequence; -1 when it is empty."""
        with self._lock:
            return self._memory.pos_min(seq_id)

    def memory_seq_pos_max(self, seq_id: int) -> int:
        """The last position of a sequence; -1 when it is empty."""
        with self._lock:
            return self._memory.pos_max(seq_id)

    def memory_can_shift(self) -> bool:
        """Whether positions can be shifted."""
        return self._memory.can_shift

    # ---- the names of the older lineage -----------------------------------------------------------------------

    def kv_cache_clear(self) -> None:
        """See `memory_clear`."""
        self.memory_clear(True)

    def kv_cache_seq_rm(self, seq_id: int, p0: int, p1: int) -> bool:
        """See `memory_seq_rm`."""
        return self.memory_seq_rm(seq_id, p0, p1)

    def kv_cache_seq_cp(self, seq_id_src: int, seq_id_dst: int, p0: int, p1: int) -> None:
        """See `memory_seq_cp`."""
        self.memory_seq_cp(seq_id_src, seq_id_dst, p0, p1)

    def kv_cache_seq_keep(self, seq_id: int) -> None:
        """See `memory_seq_keep`."""
        self.memory_seq_keep(seq_id)

    def kv_cache_seq_shift(self, seq_id: int, p0: int, p1: int, shift: int) -> None:
        """See `memory_seq_add`."""
        self.memory_seq_add(seq_id, p0, p1, shift)

    kv_cache_seq_add = kv_cache_seq_shift
