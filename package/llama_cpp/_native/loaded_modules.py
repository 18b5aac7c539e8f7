"""Whether this process has loaded a library of some file name already, wherever it came from."""

from __future__ import annotations

import ctypes
import os
import sys


def is_loaded(name: str) -> bool:
    """Whether the loader would answer a need for `name` with a library that is there, without searching for a file."""
    if sys.platform == "win32":
        return bool(ctypes.WinDLL("kernel32").GetModuleHandleW(ctypes.c_wchar_p(name)))
    try:
        ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except (OSError, AttributeError):  # musl's RTLD_NOLOAD is not exposed everywhere
        return False
    return True
