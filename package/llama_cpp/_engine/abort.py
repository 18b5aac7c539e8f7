r"""Stopping an evaluation from another thread without the interpreter's lock.

The native abort callback is libc's strlen over two bytes: "\0" has length 0, go on; "\1\0" has length 1, stop.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from llama_cpp._native.bindings.declarations.ggml import ggml_abort_callback
from llama_cpp._native.log_route import libc


class AbortFlag:
    """A flag that native code reads through a C function. It must outlive the context it is given to."""

    __slots__ = ("_bytes", "callback")

    def __init__(self) -> None:
        self._bytes = (ctypes.c_char * 2)()
        self.callback: Any = ctypes.cast(libc().strlen, ggml_abort_callback)

    @property
    def address(self) -> int:
        """The callback's user data."""
        return ctypes.addressof(self._bytes)

    def set(self) -> None:
        """Stop the present evaluation. Safe from any thread."""
        self._bytes[0] = b"\1"

    def clear(self) -> None:
        """Let evaluations run."""
        self._bytes[0] = b"\0"

    def is_set(self) -> bool:
        """Whether a stop was asked for since the last `clear`."""
        return self._bytes[0] != b"\0"


class AbortRelay:
    """Asks a Python function beside the flag; an exception in it stops the evaluation and is kept."""

    def __init__(self, flag: AbortFlag, function: Callable[[], object]) -> None:
        self._flag = flag
        self._function = function
        self._error: BaseException | None = None
        self.callback = ggml_abort_callback(self._call)

    def _call(self, _data: object) -> bool:
        try:
            return self._flag.is_set() or bool(self._function())
        except BaseException as error:  # noqa: BLE001 - kept, and raised again once C has returned
            self._error = error
            return True

    def raise_pending(self) -> None:
        """Raise what the function raised since the last time."""
        error, self._error = self._error, None
        if error is not None:
            raise error
