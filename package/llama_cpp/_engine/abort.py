r"""Stopping an evaluation from another thread without the interpreter's lock.

The native abort callback is libc's strlen over two bytes: "\0" has length 0, go on; "\1\0" has length 1, stop.
"""

from __future__ import annotations

import ctypes
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
