"""Ownership of native pointers: one class that frees each once, children before parents.

What a pointer means, and the calls on it, belong to the subclasses.
"""

from __future__ import annotations

import atexit
import threading
import warnings
import weakref
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from typing_extensions import Self

from .errors import ClosedError
from .leaving import evaluations

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

P = TypeVar("P", bound=int)

_live: weakref.WeakSet[_Ownership[Any]] = weakref.WeakSet()
_tree_lock = threading.RLock()


class _Ownership(Generic[P]):
    """The pointer, how to free it, and whom it belongs to. It never refers to its handle: it outlives it."""

    __slots__ = ("__weakref__", "children", "free", "keep", "label", "parent", "pointer")

    def __init__(self, pointer: P, free: Callable[[P], object], label: str) -> None:
        self.pointer: P | None = pointer
        self.free = free
        self.label = label
        self.parent: _Ownership[Any] | None = None
        self.children: list[weakref.ref[_Ownership[Any]]] = []
        self.keep: list[object] = []

    def adopt_by(self, parent: _Ownership[Any]) -> None:
        with _tree_lock:
            if self.parent is parent:
                return
            self.leave_parent()
            self.parent = parent
            parent.children = [child for child in parent.children if child() is not None]
            parent.children.append(weakref.ref(self))

    def leave_parent(self) -> None:
        if self.parent is not None:
            self.parent.children = [child for child in self.parent.children if child() not in (None, self)]
            self.parent = None

    def close(self) -> None:
        """Free the newest children first, then the pointer; once."""
        with _tree_lock:
            for reference in reversed(self.children):
                child = reference()
                if child is not None:
                    child.close()
            self.children = []
            pointer, self.pointer = self.pointer, None
            self.leave_parent()
            _live.discard(self)
            if pointer:
                self.free(pointer)
        self.keep.clear()


class Handle(Generic[P]):
    """An owned native pointer.

    `close()` may be called any number of times and closes what was made from this object first. Left to the
    garbage collector, the pointer is freed in the same order, with a `ResourceWarning`. A subclass whose
    constructor raises before `_own` leaves an object that counts as closed.
    """

    _ownership: _Ownership[P] | None = None
    _parent: Handle[Any] | None = None
    _finalizer: weakref.finalize[..., Any] | None = None

    def _own(self, pointer: P, free: Callable[[P], object], *, parent: Handle[Any] | None = None, keep: tuple[object, ...] = ()) -> None:
        """Take ownership of `pointer`; `keep` lives until it is freed, and `parent` is never freed before it."""
        ownership = _Ownership(pointer, free, type(self).__name__)
        ownership.keep.extend(keep)
        if parent is not None:
            ownership.adopt_by(parent._owned())  # noqa: SLF001 - its own class
            self._parent = parent  # not in `keep`: the finalizer's registry would make a cycle immortal
        self._ownership = ownership
        self._finalizer = weakref.finalize(self, _finalize, ownership)
        self._finalizer.atexit = False
        with _tree_lock:
            _live.add(ownership)

    def _attach(self, parent: Handle[Any]) -> None:
        """Make an object that was created free-standing depend on `parent` from now on."""
        self._owned().adopt_by(parent._owned())
        self._parent = parent

    def _adopt(self, child: Handle[Any]) -> None:
        """Close `child` before this object from now on. Whoever calls keeps it: a reference back would be a cycle."""
        child._owned().adopt_by(self._owned())
        child._parent = None

    @property
    def ownership(self) -> _Ownership[P]:
        """Who holds the pointer; its `pointer` turns 0 with close. For loops of this layer that cannot afford a property."""
        return self._owned()

    def _owned(self) -> _Ownership[P]:
        ownership = self._ownership
        if ownership is None or ownership.pointer is None:
            self._refuse_closed()
        return ownership

    @property
    def pointer(self) -> P:
        """The native address. Raises `ClosedError` after close."""
        ownership = self._ownership
        if ownership is None or ownership.pointer is None:
            self._refuse_closed()
        return ownership.pointer

    def _refuse_closed(self) -> NoReturn:
        raise ClosedError(f"{type(self).__name__} is closed; create a new one")

    @property
    def closed(self) -> bool:
        """Whether the pointer has been freed or given away."""
        return self._ownership is None or not self._ownership.pointer

    def close(self) -> None:
        """Free the pointer, and before it all that was made from this object."""
        if self._finalizer is not None:
            self._finalizer.detach()
        if self._ownership is not None:
            self._ownership.close()
        self._parent = None

    def release(self) -> P:
        """Give the ownership away: returns the pointer, which the caller now has to free, and counts as closed."""
        ownership, pointer = self._owned(), self.pointer
        if self._finalizer is not None:
            self._finalizer.detach()
        with _tree_lock:
            ownership.pointer = None
            ownership.leave_parent()
            _live.discard(ownership)
        return pointer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"at {self.pointer:#x}"
        return f"<{type(self).__name__} {state}>"


def live_handles() -> int:
    """How many native objects are owned and not yet freed."""
    return len(_live)


def _finalize(ownership: _Ownership[Any]) -> None:
    if ownership.pointer:
        ownership.close()
        warnings.warn(
            f"{ownership.label} was never closed; call close() or use a with statement",
            ResourceWarning,
            stacklevel=2,
        )


@atexit.register
def _close_all() -> None:
    """Free what is left at interpreter exit, quietly: some backends abort in static destructors otherwise.

    Daemon threads are still there then. What they may be using cannot be freed under their hands, nor can they tell
    anybody that it was closed: their evaluations are stopped, and everything is left to the operating system.
    """
    if any(thread is not threading.current_thread() for thread in threading.enumerate()):
        evaluations.close()
        return
    for ownership in list(_live):
        if ownership.parent is None:
            ownership.close()
