from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pytest

from llama_cpp._native.diagnosis import absent_dlls, explain, missing_dependency, missing_libraries, needed_by, truncation
from tests.buildsys.audit.elf_files import shared_object
from tests.buildsys.audit.pe_files import dynamic_library

if TYPE_CHECKING:
    from pathlib import Path


def elf(segment_end: int, size: int) -> bytes:
    """A 64-bit ELF header with one loadable segment that ends at `segment_end`, in a file of `size` bytes."""
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 3, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, segment_end, segment_end, 4096)
    return (header + segment).ljust(size, b"\0")


@pytest.mark.parametrize(
    ("contents", "complaint"),
    [
        (elf(4096, 4096), None),
        (elf(4096, 5000), None),
        (elf(4096, 4095), "cut short: 4095 of at least 4096 bytes"),
        (elf(4096, 200)[:100], "cut short"),
        (elf(4096, 200)[:30], "cut short: 30 bytes"),
        (b"", "empty"),
        (b"MZ another format", None),
        (b"\x7fELF\x01\x01 32 bits", None),
    ],
)
def test_truncation(tmp_path: Path, contents: Any, complaint: Any) -> None:
    path = tmp_path / "libx.so"
    path.write_bytes(contents)
    found = truncation(path)
    assert found is None if complaint is None else complaint in found


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("libomp.so: cannot open shared object file: No such file or directory", "libomp.so"),
        ("Error loading shared library libomp.so: No such file or directory (needed by /x/libggml-base.so)", "libomp.so"),
        ("dlopen(/x/libllama.dylib, 0x6): Library not loaded: @rpath/libomp.dylib Referenced from: </x>", "libomp.dylib"),
        ("/x/liba.so: undefined symbol: ggml_new", None),
        ("/x/liba.so: invalid ELF header", None),
    ],
)
def test_missing_dependency(message: str, name: str) -> None:
    assert missing_dependency(message) == name


def test_explanation_names_who_needs_what(tmp_path: Path) -> None:
    for name in ("libggml-base.so", "libggml-cpu-a.so", "libggml-cpu-b.so", "libggml-cpu-c.so"):
        (tmp_path / name).write_bytes(b"\0libomp.so\0libm.so.6\0")
    (tmp_path / "libllama.so").write_bytes(b"\0libggml-base.so\0")
    (tmp_path / "notes.txt").write_bytes(b"\0libomp.so\0")
    assert needed_by("libomp.so", [tmp_path / "libllama.so", tmp_path / "gone.so"]) == []
    text = explain(tmp_path / "libllama.so", OSError("libomp.so: cannot open shared object file: x"), "linux")
    assert text == "libomp.so not found, needed by libggml-base.so, libggml-cpu-a.so, libggml-cpu-b.so and 1 more"


def test_an_error_that_names_no_dependency_is_passed_on(tmp_path: Path) -> None:
    path = tmp_path / "libx.so"
    path.touch()
    assert explain(path, OSError("libx.so: invalid ELF\n header"), "linux") == "libx.so: invalid ELF header"


def test_windows_names_the_dlls_that_are_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = tmp_path / "Windows" / "System32"
    system.mkdir(parents=True)
    (system / "KERNEL32.dll").touch()
    path = tmp_path / "ggml-base.dll"
    path.write_bytes(b"..KERNEL32.dll\0libomp140.x86_64.dll\0api-ms-win-crt-heap-l1-1-0.dll\0ggml-base.dll\0text.dllx\0")
    assert absent_dlls(path, (system,)) == ["libomp140.x86_64.dll"]
    assert absent_dlls(path, (system,), loaded=lambda name: name == "libomp140.x86_64.dll") == []
    monkeypatch.setenv("SYSTEMROOT", str(tmp_path / "Windows"))
    text = explain(path, OSError("[WinError 126] Could not find module (or one of its dependencies)"), "win32")
    assert text == "libomp140.x86_64.dll not found, needed by ggml-base.dll"


def test_needs_are_read_from_the_headers_where_there_are_some(tmp_path: Path) -> None:
    """A name among the strings of a file is no need of it."""
    (tmp_path / "libllama.so").write_bytes(shared_object(needed=["libggml.so"], payload=b"\0libomp.so\0"))
    (tmp_path / "libggml.so").write_bytes(shared_object(needed=["libomp.so"]))
    assert needed_by("libomp.so", tmp_path.iterdir()) == ["libggml.so"]
    dll = tmp_path / "ggml-cuda.dll"
    dll.write_bytes(dynamic_library(imports=["nvcuda.dll", "cudart64_13.dll"], payload=b"\0other.dll\0"))
    assert missing_libraries(dll, OSError(), "win32") == ["cudart64_13.dll", "nvcuda.dll"]


def test_the_missing_library_is_told_from_the_file_itself(tmp_path: Path) -> None:
    missing = OSError("libcuda.so.1: cannot open shared object file: No such file or directory")
    assert missing_libraries(tmp_path / "libggml-cuda.so", missing, "linux") == ["libcuda.so.1"]
    assert missing_libraries(tmp_path / "libcuda.so.1", missing, "linux") == []
    assert missing_libraries(tmp_path / "libggml-cuda.so", OSError("undefined symbol: x"), "linux") == []
