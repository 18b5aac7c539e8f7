"""Interpreter exit while daemon threads still evaluate: native code must have stopped before its libraries are torn down.

A thread that is inside a native evaluation then would use what the libraries' own exit handlers have freed.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

_PATIENCE_SECONDS = 5.0


class Evaluations:
    """The evaluations that are running now, and whether new ones may begin. One per process: `evaluations`."""

    def __init__(self) -> None:
        self.closed = False
        self.running: dict[int, Callable[[], None]] = {}

    def close(self) -> None:
        """Let none begin any more, stop those that run, and wait until they have returned."""
        self.closed = True
        for stop in list(self.running.values()):
            stop()
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while self.running and time.monotonic() < deadline:
            time.sleep(0.001)


def park() -> NoReturn:
    """Hold this thread, a daemon, until the process is gone: an exception would only be printed over the exit."""
    while True:
        threading.Event().wait()


evaluations = Evaluations()
