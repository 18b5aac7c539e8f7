"""Functions of backend plugins: found at the first call, in the registry or in the plugin's file."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from llama_cpp._native import backend_symbols, backends
from llama_cpp._native.backend_symbols import BackendFunction, backend_function
from llama_cpp._native.symbols import MissingSymbolError

LIBC = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)


class NoSymbols:
    """A library that exports nothing."""


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was done to find a function, with nothing in the registry nor in the core libraries."""
    steps: list[str] = []
    monkeypatch.setattr(backends, "ensure_backends", lambda: steps.append("backends"))
    monkeypatch.setattr(backends, "cpu_variant_path", lambda: Path("libggml-cpu-x64.so"))
    monkeypatch.setattr(backend_symbols, "_proc_address", lambda backend, _name: steps.append(f"registry {backend}"))
    monkeypatch.setattr(backend_symbols, "library", lambda _name: NoSymbols())
    monkeypatch.setattr(backend_symbols, "library_folder", lambda: Path("lib"))
    monkeypatch.setattr(backend_symbols, "plugins_in", lambda _folder: [])
    monkeypatch.setattr(ctypes, "CDLL", lambda name: steps.append(name) or LIBC)
    return steps


def declared(backend: str, name: str) -> Callable[[int], int]:
    def declaration(value: int, /) -> int: ...  # type: ignore[empty-body]

    declaration.__name__ = name
    return backend_function(backend, [ctypes.c_int], ctypes.c_int)(declaration)


def test_nothing_is_looked_up_before_the_first_call_nor_again_after_it(found: list[str]) -> None:
    function = declared("cpu", "abs")
    assert found == []
    assert [function(-1), function(-2)] == [1, 2]
    assert found == ["backends", "registry cpu", "libggml-cpu-x64.so"]


def test_the_registry_comes_first(found: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    address = ctypes.cast(LIBC.abs, ctypes.c_void_p).value
    monkeypatch.setattr(backend_symbols, "_proc_address", lambda _backend, _name: address)
    assert declared("rpc", "whatever")(-7) == 7
    assert found == ["backends"]


def test_a_build_without_plugins_has_it_in_the_core_libraries(found: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend_symbols, "library", lambda _name: LIBC)
    assert declared("cpu", "abs")(-3) == 3
    assert found == ["backends", "registry cpu"]


@pytest.mark.usefixtures("found")
def test_a_missing_function_is_named() -> None:
    with pytest.raises(MissingSymbolError, match="ggml_of_tomorrow is not exported by the cpu backend"):
        declared("cpu", "ggml_of_tomorrow")(1)


@pytest.mark.usefixtures("found")
def test_a_missing_plugin_is_named() -> None:
    with pytest.raises(MissingSymbolError, match="ggml_backend_rpc_init needs the rpc backend"):
        declared("rpc", "ggml_backend_rpc_init")(1)


def test_repr_names_function_and_backend() -> None:
    assert "abs of the cpu backend" in repr(BackendFunction("abs", "cpu", [], None))
