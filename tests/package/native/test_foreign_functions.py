from __future__ import annotations

import ctypes
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from llama_cpp._native import foreign_functions
from llama_cpp._native.errors import NativeLibraryError
from llama_cpp._native.foreign_functions import ctypes_function_for_shared_library, load_shared_library
from llama_cpp._native.naming import naming_for


@pytest.fixture(autouse=True)
def _on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign_functions, "naming_for", lambda: naming_for("linux"))


def test_a_library_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "libown.so").write_bytes(b"a library")
    monkeypatch.setattr(ctypes, "CDLL", lambda path: f"<{path}>")
    assert load_shared_library("own", tmp_path) == f"<{tmp_path / 'libown.so'}>"


def test_a_library_that_is_missing_or_broken(tmp_path: Path) -> None:
    with pytest.raises(NativeLibraryError, match=r"libown\.so not found"):
        load_shared_library("own", tmp_path)
    (tmp_path / "libown.so").write_bytes(b"no library")
    with pytest.raises(NativeLibraryError, match=r"libown\.so could not be opened"):
        load_shared_library("own", tmp_path)


def test_a_function_takes_the_place_of_its_declaration() -> None:
    native = SimpleNamespace(argtypes=None, restype=None)
    library: Any = SimpleNamespace(one=native)
    function = ctypes_function_for_shared_library(library)

    @function("one", [ctypes.c_int], ctypes.c_float)
    def bound() -> None: ...

    @function("two", [], None, enabled=False)
    def left() -> str:
        return "its own"

    assert bound is native
    assert (native.argtypes, native.restype) == ([ctypes.c_int], ctypes.c_float)
    assert left() == "its own"
