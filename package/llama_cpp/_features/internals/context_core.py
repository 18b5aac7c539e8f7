"""What every part of `LlamaContext` builds on: the engine's context, the lock, and who has to know what became of its memory."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from llama_cpp._engine.errors import MemoryOperationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llama_cpp._engine.batch import Batch
    from llama_cpp._engine.changes import Observer
    from llama_cpp._engine.context import Context
    from llama_cpp._engine.memory import Memory

    from .model import LlamaModel

ALL_SEQUENCES = -1


class Ledger(Protocol):
    """Who counts on what sequence 0 holds: the `Llama` that a context belongs to."""

    def memory_changed(self, keep: int) -> None:
        """At most the first `keep` positions are what they were."""

    def evaluated(self, batch: Batch | None) -> None:
        """A batch was evaluated; None when that failed, or it is not known what was in it."""

    def can_keep(self, positions: int) -> bool:
        """Whether memory that is cut after so many positions still computes what it would without the rest."""


class ContextCore:
    """Holds the engine's context. Every call takes the lock of its `Llama`, or one of its own."""

    def __init__(self, model: LlamaModel, context: Context, *, verbose: bool, owned: bool) -> None:
        self.model = model
        self.engine = context
        self.params: Any = context.params
        self.verbose = verbose
        self._owned = owned
        self._lock: threading.RLock = threading.RLock()
        self._ledger: Ledger | None = None

    def _belong(self, lock: threading.RLock, ledger: Ledger | None) -> None:
        """Take part in someone else's lock and book-keeping."""
        self._lock, self._ledger = lock, ledger

    @property
    def ctx(self) -> int:
        """The address of the `llama_context`."""
        return self.engine.pointer

    @property
    def memory(self) -> int:
        """The address of the context's memory. What is changed through it is found out when the next request begins."""
        return self._memory.pointer

    @property
    def _memory(self) -> Memory:
        memory = self.engine.memory
        if memory is None:
            raise MemoryOperationError("this context has no memory: its model keeps nothing between evaluations")
        return memory

    def _register_checkpoint_cache(self, cache: Observer) -> None:
        """Tell `cache`, as long as it lives, when memory is changed by this object or the `Llama` that it belongs to."""
        self.engine.changes.register(cache)

    @contextmanager
    def _changing(self, seq_id: int = ALL_SEQUENCES, *, keep: int = 0) -> Iterator[None]:
        """Around a change of memory, also one that fails: tell the `Llama` that counts on it."""
        with self._lock:
            try:
                yield
            finally:
                if self._ledger is not None and seq_id in (ALL_SEQUENCES, 0):
                    self._ledger.memory_changed(keep)
