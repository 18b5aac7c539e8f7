"""Functions in the place of their declarations, and what a missing one costs."""

from __future__ import annotations

import ctypes
import sys

import pytest

from llama_cpp._native import symbols
from llama_cpp._native.errors import LlamaError, NativeLibraryError
from llama_cpp._native.symbols import MissingFunction, MissingSymbolError, c_function, is_available, public_names


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the libraries asked for; each is the C library of this process."""
    names: list[str] = []
    libc = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)

    def library(name: str) -> ctypes.CDLL:
        names.append(name)
        return libc

    monkeypatch.setattr(symbols, "library", library)
    monkeypatch.setattr(symbols, "_outcomes", {})
    return names


def test_the_declaration_becomes_the_native_function_itself() -> None:
    @c_function("llama", [ctypes.c_int], ctypes.c_int)
    def abs(value: int, /) -> int: ...  # type: ignore[empty-body]  # noqa: A001

    assert abs(-3) == 3
    assert not hasattr(abs, "__code__"), "a call must not cost a Python frame"
    assert is_available(abs)


def test_symbols_are_tried_in_order() -> None:
    @c_function("llama", [ctypes.c_int], ctypes.c_int, symbols=("_Zabsent", "labs", "abs"))
    def magnitude(value: int, /) -> int: ...  # type: ignore[empty-body]

    assert magnitude(-4) == 4


def test_a_missing_symbol_costs_its_caller_only() -> None:
    @c_function("llama", [], None)
    def llama_of_tomorrow() -> None: ...

    assert not is_available(llama_of_tomorrow)
    assert "llama_of_tomorrow" in repr(llama_of_tomorrow)
    for _ in range(2):
        with pytest.raises(MissingSymbolError, match=r"llama_of_tomorrow is not exported by .*reinstall llama_cpp_python"):
            llama_of_tomorrow()


def test_missing_symbols_can_be_caught_as_what_they_are() -> None:
    assert issubclass(MissingSymbolError, LlamaError)
    assert issubclass(MissingSymbolError, NotImplementedError)


def test_both_ggml_libraries_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    class Empty:
        _name = "libggml-base.so"

    libc = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)
    monkeypatch.setattr(symbols, "library", {"ggml-base": Empty(), "ggml": libc}.__getitem__)

    @c_function("ggml", [ctypes.c_int], ctypes.c_int)
    def abs(value: int, /) -> int: ...  # type: ignore[empty-body]  # noqa: A001

    assert abs(-5) == 5


def test_a_library_that_does_not_open_is_tried_once_and_reported_at_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = []

    def library(name: str) -> ctypes.CDLL:
        attempts.append(name)
        raise NativeLibraryError("libomp.so not found, needed by libllama.so") from OSError("dlopen")

    monkeypatch.setattr(symbols, "library", library)
    functions = []
    for name in ("llama_a", "llama_b"):

        def declared() -> None: ...

        declared.__name__ = name
        functions.append(c_function("llama", [], None)(declared))
    assert attempts == ["llama"]
    assert all(isinstance(function, MissingFunction) for function in functions)
    with pytest.raises(NativeLibraryError, match=r"libomp\.so not found") as caught:
        functions[0]()
    assert isinstance(caught.value.__cause__, OSError)


def test_public_names_are_those_of_the_libraries() -> None:
    namespace = {"llama_n_ctx": 1, "LLAMA_DEFAULT_SEED": 2, "GGML_TYPE_F32": 3, "mtmd_free": 4, "ctypes": 5, "c_function": 6, "_llama_x": 7}
    assert public_names(namespace) == ["llama_n_ctx", "LLAMA_DEFAULT_SEED", "GGML_TYPE_F32", "mtmd_free"]
