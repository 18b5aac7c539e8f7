from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from llama_cpp._native import libraries
from llama_cpp._native.errors import NativeLibraryError
from llama_cpp._native.libraries import CORE_LIBRARIES, LibrarySet, resolve_folder
from llama_cpp._native.naming import naming_for


class Opener:
    """Stands for ctypes.CDLL: remembers what it was asked to open, and fails for chosen files."""

    def __init__(self, failures: Any = None) -> None:
        self.opened = []
        self.failures = failures or {}

    def __call__(self, path: Any) -> Any:
        name = Path(path).name
        assert Path(path).is_absolute()
        time.sleep(0.002)
        if name in self.failures:
            raise OSError(self.failures[name])
        self.opened.append(name)
        return f"<{name}>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (*CORE_LIBRARIES, "omp", "ggml-cpu-x64", "llama-common"):
        (tmp_path / f"lib{name}.so").write_bytes(b"a library")
    return tmp_path


def linux_set(folder: Path, opener: Any) -> Any:
    return LibrarySet(folder, naming=naming_for("linux"), open_library=opener)


def test_libraries_open_in_dependency_order_after_the_bundled_runtime(folder: Path) -> None:
    opener = Opener()
    assert linux_set(folder, opener).library("llama") == "<libllama.so>"
    assert opener.opened == ["libomp.so", "libggml-base.so", "libggml.so", "libllama.so"]


def test_each_library_opens_once_whatever_thread_asks(folder: Path) -> None:
    opener = Opener()
    shared = linux_set(folder, opener)
    threads = [threading.Thread(target=shared.library, args=(name,)) for name in CORE_LIBRARIES * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(opener.opened) == sorted(["libomp.so", *(f"lib{name}.so" for name in CORE_LIBRARIES)])


def test_a_missing_dependency_is_named_with_the_next_step(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LLAMA_CPP_LIB_PATH", raising=False)
    (folder / "libomp.so").unlink()
    (folder / "libggml-base.so").write_bytes(b"\0libomp.so\0")
    opener = Opener({"libggml-base.so": "libomp.so: cannot open shared object file: No such file or directory"})
    with pytest.raises(NativeLibraryError) as caught:
        linux_set(folder, opener).library("llama")
    message = str(caught.value)
    assert "libomp.so not found, needed by libggml-base.so" in message
    assert str(folder) in message
    assert "force-reinstall" in message


def test_a_failure_is_not_remembered(folder: Path) -> None:
    opener = Opener({"libggml.so": "busy"})
    shared = linux_set(folder, opener)
    with pytest.raises(NativeLibraryError, match="busy"):
        shared.library("ggml")
    opener.failures.clear()
    assert shared.library("ggml") == "<libggml.so>"
    assert opener.opened.count("libggml-base.so") == 1


def test_a_damaged_file_is_not_opened(folder: Path) -> None:
    (folder / "libggml-base.so").write_bytes(b"")
    opener = Opener()
    with pytest.raises(NativeLibraryError, match=r"libggml-base\.so could not be opened: the file is empty"):
        linux_set(folder, opener).library("ggml")
    assert opener.opened == ["libomp.so"]


def test_a_broken_bundled_runtime_is_left_to_those_who_need_it(folder: Path) -> None:
    opener = Opener({"libomp.so": "broken"})
    assert linux_set(folder, opener).library("ggml-base") == "<libggml-base.so>"


def test_an_absent_library_names_the_folder_and_the_variable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(folder))
    (folder / "libmtmd.so").unlink()
    with pytest.raises(NativeLibraryError, match=r"libmtmd\.so not found in .*LLAMA_CPP_LIB_PATH chose this folder"):
        linux_set(folder, Opener()).library("mtmd")


def test_an_absent_folder_asks_for_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LLAMA_CPP_LIB_PATH", raising=False)
    with pytest.raises(NativeLibraryError, match="install a wheel of llama_cpp_python"):
        linux_set(tmp_path / "lib", Opener()).library("llama")


@pytest.mark.parametrize("present", ["ggml-base.dll", "libggml-base.dll"])
def test_windows_accepts_both_spellings(tmp_path: Path, present: Any) -> None:
    (tmp_path / present).touch()
    assert LibrarySet(tmp_path, naming=naming_for("win32")).file("ggml-base").name == present


def test_the_variable_replaces_the_packaged_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert resolve_folder({"LLAMA_CPP_LIB_PATH": "mine"}) == tmp_path / "mine"
    packaged = resolve_folder({"LLAMA_CPP_LIB_PATH": ""})
    assert packaged == Path(libraries.__file__).resolve().parents[1] / "lib"
    assert packaged.is_absolute()


@pytest.mark.parametrize("name", ["a_file", "no_file"])
def test_another_multimodal_library(folder: Path, tmp_path: Path, name: str) -> None:
    """The file itself; or one of the usual name beside it."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "libmtmd.so").write_bytes(b"a library")
    (other / "a_file").write_bytes(b"a library")
    opener = Opener()
    chosen = LibrarySet(folder, multimodal=other / name, naming=naming_for("linux"), open_library=opener)
    chosen.library("mtmd")
    assert chosen.file("mtmd") == other / ("a_file" if name == "a_file" else "libmtmd.so")
    assert chosen.file("llama") == folder / "libllama.so"


def test_another_multimodal_library_that_is_missing(folder: Path, tmp_path: Path) -> None:
    chosen = LibrarySet(folder, multimodal=tmp_path / "nowhere" / "libmtmd.so", naming=naming_for("linux"), open_library=Opener())
    with pytest.raises(NativeLibraryError, match=r"libmtmd\.so not found in .*nowhere"):
        chosen.library("mtmd")


def test_the_environment_names_another_multimodal_library(monkeypatch: pytest.MonkeyPatch) -> None:
    assert libraries.resolve_multimodal({}) is None
    assert libraries.resolve_multimodal({"LLAVA_CPP_LIB": "/a/b.so"}) == Path("/a/b.so").absolute()
    assert libraries.resolve_multimodal({"MTMD_CPP_LIB": "/c/d.so", "LLAVA_CPP_LIB": "/a/b.so"}) == Path("/c/d.so").absolute()
    monkeypatch.setenv("MTMD_CPP_LIB", "/c/d.so")
    assert "MTMD_CPP_LIB chose this folder" in libraries._next_step(Path("/c").absolute())
