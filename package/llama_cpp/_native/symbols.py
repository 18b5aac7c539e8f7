"""Puts native functions in the place of their generated declarations; which file a library is, `libraries` says.

A declaration whose library or symbol is missing becomes a callable that raises on its first call, so a missing
symbol costs the feature that needs it and never the import.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from ctypes import CDLL
from typing import Any, NoReturn, TypeVar, cast

from llama_cpp._native.errors import LlamaError
from llama_cpp._native.libraries import library

_F = TypeVar("_F", bound=Callable[..., object])

_FILES = {"ggml": ("ggml-base", "ggml"), "llama": ("llama",), "mtmd": ("mtmd",)}
_PREFIXES = ("llama_", "LLAMA_", "ggml_", "GGML_", "gguf_", "GGUF_", "mtmd_", "MTMD_", "RPC_")


_outcomes: dict[str, CDLL | LlamaError] = {}


class MissingSymbolError(LlamaError, NotImplementedError):
    """A native library does not export a function that was called."""


class MissingFunction:
    """Stands where a native function would be; calling it says why there is none."""

    def __init__(self, name: str, reason: Exception) -> None:
        self.__name__ = name
        self.reason = reason

    def __call__(self, *_args: object) -> NoReturn:
        raise type(self.reason)(*self.reason.args) from self.reason.__cause__

    def __repr__(self) -> str:
        return f"<missing native function {self.__name__}>"


def is_available(function: object) -> bool:
    """Whether a bound name is a native function; False for one that its library lacks."""
    return not isinstance(function, MissingFunction)


def c_function(owner: str, argtypes: Sequence[Any], restype: Any, *, symbols: Sequence[str] = ()) -> Callable[[_F], _F]:
    """Replace a typed declaration by the ctypes function itself, so that a call costs no Python frame.

    `symbols` are the exported names to try, in order; without them it is the declaration's own name.
    """

    def bind(declaration: _F) -> _F:
        name = declaration.__name__
        try:
            function = _find(owner, symbols or (name,))
        except LlamaError as error:
            return cast("_F", MissingFunction(name, error))
        function.argtypes = argtypes
        function.restype = restype
        return cast("_F", function)

    return bind


def _find(owner: str, symbols: Sequence[str]) -> Any:
    files = [_open(file) for file in _FILES[owner]]
    for symbol in symbols:
        for file in files:
            try:
                return getattr(file, symbol)
            except AttributeError:
                continue
    raise MissingSymbolError(
        f"{symbols[0]} is not exported by {' or '.join(str(file._name) for file in files)}. "  # noqa: SLF001
        "This llama.cpp does not have it: reinstall llama_cpp_python, or unset LLAMA_CPP_LIB_PATH if that chose other libraries."
    )


def _open(name: str) -> CDLL:
    """A core library. A failure is remembered: the next thousand declarations need not find it out again."""
    outcome = _outcomes.get(name)
    if outcome is None:
        try:
            outcome = library(name)
        except LlamaError as error:
            outcome = error
        _outcomes[name] = outcome
    if isinstance(outcome, LlamaError):
        raise outcome
    return outcome


def public_names(namespace: Mapping[str, object]) -> list[str]:
    """The C names among a module's globals: those that start with the name of a library."""
    return [name for name in namespace if name.startswith(_PREFIXES)]
