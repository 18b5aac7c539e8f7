"""Where native logging goes when nobody listens: a C function that ignores it, safe even after the interpreter ended.

Listening to the lines is the engine's business.
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from llama_cpp._native.bindings import llama
from llama_cpp._native.bindings.declarations.ggml import ggml_log_callback

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Route:
    listened_to = False


def mark_listened_to() -> None:
    """Someone routes native logging from now on; `unheard` leaves it alone."""
    _Route.listened_to = True


@lru_cache(maxsize=1)
def libc() -> ctypes.CDLL:
    """The C library of this process."""
    return ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)


@lru_cache(maxsize=1)
def ignoring_callback() -> Any:
    """The abs() of libc: as a log callback it takes the level and does nothing."""
    return ctypes.cast(libc().abs, ggml_log_callback)


@contextmanager
def unheard() -> Iterator[None]:
    """Keep native code from writing to stderr meanwhile, unless someone listens. A callback set before comes back."""
    if _Route.listened_to:
        yield
        return
    callback, user_data = ggml_log_callback(), ctypes.c_void_p()
    llama.llama_log_get(ctypes.byref(callback), ctypes.byref(user_data))
    llama.llama_log_set(ignoring_callback(), None)
    try:
        yield
    finally:
        llama.llama_log_set(callback, user_data)
