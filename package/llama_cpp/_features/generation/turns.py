"""Whose turn it is on a context: requests of different threads wait for each other, a thread may nest its own.

Owns waiting, the execution lock and the abort mark of each request. What a request does is not its business.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from threading import get_ident
from typing import TYPE_CHECKING

from llama_cpp._engine.adapter import PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray


class Turn:
    """One request that has begun and not ended. A stream keeps its turn while it is suspended."""

    __slots__ = ("_turns", "aborted", "adaptation", "encoded", "thread")

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self.thread = get_ident()  # who drove it last: a stream may be advanced from different threads
        self.aborted = False
        self.adaptation = PLAIN  # what its evaluations are to be made with
        self.encoded: NDArray[np.intc] | None = None  # what an encoder has to have seen before

    def end(self) -> None:
        """Let the others go on. Harmless when repeated; called from a finalizer it does not wait."""
        self._turns.end(self)


class Turns:
    """The requests on one context.

    `executing` is held by whoever runs native code on the context: for a blocking request all the time, for a
    stream only within a step, so that a suspended stream can be advanced, closed or collected in any thread.
    """

    def __init__(self, reset_abort: Callable[[], None] | None = None) -> None:
        self.executing = threading.RLock()
        self._changed = threading.Condition(threading.RLock())  # re-entrant: a finalizer may call `end` at any point
        self._live: list[Turn] = []
        self._reset_abort = reset_abort

    def take(self) -> Turn:
        """Begin a request, when the requests that other threads have begun are over.

        A thread with a suspended stream of its own does not wait for it: the stream has to notice that the
        context changed hands.
        """
        with self._changed:
            me = get_ident()
            while self._live and all(turn.thread != me for turn in tuple(self._live)):
                self._changed.wait()
            if self._reset_abort is not None:
                self._reset_abort()
            turn = Turn(self)
            self._live.append(turn)
            return turn

    @contextmanager
    def blocking(self) -> Iterator[Turn]:
        """A request that runs to its end before it returns."""
        turn = self.take()
        try:
            with self.executing:
                yield turn
        finally:
            turn.end()

    def abort(self) -> bool:
        """Mark all requests that have begun and not ended; False when there are none."""
        with self._changed:
            for turn in self._live:
                turn.aborted = True
            return bool(self._live)

    def end(self, turn: Turn) -> None:
        """Forget a turn and wake those who wait."""
        with self._changed:
            if turn in self._live:
                self._live.remove(turn)
            self._changed.notify_all()
