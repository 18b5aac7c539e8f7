"""Who has to know when a context's memory changes: what was saved of it may not fit it any more.

Owns the list of observers, which are held weakly, and finding a context by its address. What an observer makes of a
change is its own business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar
from weakref import WeakSet, WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import Callable

    from .context import Context

P = TypeVar("P")

open_contexts: WeakValueDictionary[int, Context] = WeakValueDictionary()
"""Contexts by their native address."""


_HARMLESS = (1, -1)


class Evaluated(Protocol):
    """A batch."""

    @property
    def sequences(self) -> frozenset[int]:
        """The sequences that its tokens belong to."""


class Observer(Protocol):
    """What is told of changes, before or after they are made, by whoever makes them through this layer."""

    def lost(self, first: int, seq_id: int | None = None, *, spared: int | None = None) -> None:
        """Positions from `first` on are not what they were, in one sequence or in all, but for a spared one."""

    def device_state_replaced(self, seq_id: int) -> None:
        """What was kept of a sequence on the device is overwritten."""

    def close(self) -> None:
        """The context is about to be freed."""


class Changes:
    """The observers of one context. Nothing here costs anything while there is none."""

    def __init__(self) -> None:
        self._observers: WeakSet[Observer] = WeakSet()

    def register(self, observer: Observer) -> None:
        """Tell `observer` from now on, as long as someone else keeps it."""
        self._observers.add(observer)

    def unregister(self, observer: Observer) -> None:
        """Tell it no more."""
        self._observers.discard(observer)

    def lost(self, first: int = 0, seq_id: int | None = None, *, spared: int | None = None) -> None:
        """See `Observer.lost`. A negative `first` or `seq_id` means all, as in C."""
        for observer in tuple(self._observers):
            observer.lost(max(first, 0), None if seq_id is not None and seq_id < 0 else seq_id, spared=spared)

    def removed(self, seq_id: int, p0: int, p1: int) -> None:
        """Positions [p0, p1) are gone; an empty range changes nothing."""
        if p1 < 0 or p1 > max(p0, 0):
            self.lost(p0, seq_id)

    def failed(self, code: int, batch: Evaluated) -> None:
        """An evaluation answered with `code`. Memory is as it was when the batch was refused, or found no room."""
        if code not in _HARMLESS:
            for seq_id in batch.sequences:
                self.lost(0, seq_id)

    def device_state_replaced(self, seq_id: int) -> None:
        """See `Observer.device_state_replaced`."""
        for observer in tuple(self._observers):
            observer.device_state_replaced(seq_id)

    def before(self, free: Callable[[P], object]) -> Callable[[P], object]:
        """`free`, but the observers are closed first."""

        def closing(pointer: P) -> object:
            for observer in tuple(self._observers):
                observer.close()
            return free(pointer)

        return closing
