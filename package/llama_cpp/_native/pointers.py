"""Static types of what the bindings accept and return for pointers. For type checkers: there is nothing here at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ctypes
    from _ctypes import CFuncPtr as Callback  # noqa: TC004 - there is no run time
    from _ctypes import _CArgObject, _Pointer
    from typing import Any, TypeAlias, TypeVar

    __all__ = ["Address", "Buffer", "Callback", "Pointer", "Reference"]

    _T = TypeVar("_T", bound=ctypes._CData)  # noqa: SLF001 - typeshed has no public name

    Pointer: TypeAlias = _Pointer[_T]
    """A typed pointer as C returns it: false when NULL, indexable otherwise."""

    Reference: TypeAlias = _Pointer[_T] | ctypes.Array[_T] | _CArgObject | None
    """An argument that points to one or many of a type: a pointer, an array, `byref(…)`, or None for NULL."""

    Buffer: TypeAlias = _Pointer[ctypes.c_char] | ctypes.Array[ctypes.c_char] | ctypes.c_char_p | _CArgObject | bytes | None
    """A `char *` argument that C writes to."""

    Address: TypeAlias = int | bytes | ctypes.c_void_p | ctypes.Array[Any] | _Pointer[Any] | _CArgObject | None
    """A `void *` argument."""
