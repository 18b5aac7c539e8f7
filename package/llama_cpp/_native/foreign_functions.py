"""Opening a shared library of one's own, and typed functions of it: what programs used to borrow from this package.

The package's own libraries are opened by `libraries`, and bound by `symbols`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from .errors import NativeLibraryError
from .naming import naming_for

__all__ = ["ctypes_function_for_shared_library", "load_shared_library"]

_F = TypeVar("_F", bound=Callable[..., object])


def load_shared_library(lib_base_name: str, base_path: Path) -> ctypes.CDLL:
    """The library `lib_base_name` (without prefix and suffix) of the folder `base_path`.

    Raises `NativeLibraryError` when there is none, or it cannot be opened.
    """
    candidates = [base_path / name for name in naming_for().library_files(lib_base_name)]
    for path in candidates:
        if path.is_file():
            try:
                return ctypes.CDLL(str(path.absolute()))
            except OSError as error:
                raise NativeLibraryError(f"{path} could not be opened: {error}") from error
    raise NativeLibraryError(f"{' or '.join(path.name for path in candidates)} not found in {base_path}")


def ctypes_function_for_shared_library(lib: ctypes.CDLL) -> Callable[..., Callable[[_F], _F]]:
    """A decorator `(name, argtypes, restype, enabled=True)` that puts a function of `lib` in the place of a declaration."""

    def function(name: str, argtypes: Sequence[Any], restype: Any, enabled: bool = True) -> Callable[[_F], _F]:
        def bind(declaration: _F) -> _F:
            if not enabled:
                return declaration
            found = getattr(lib, name)
            found.argtypes, found.restype = argtypes, restype
            return cast("_F", found)

        return bind

    return function
