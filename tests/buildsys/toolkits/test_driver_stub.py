from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from buildsys import toolchains
from buildsys.project import VENDOR
from buildsys.toolchains import ReadyToolchain
from buildsys.toolkits import driver_stub

COMPILER = shutil.which("cc")
NO_DEVICE = 100


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    if COMPILER is None or sys.platform != "linux":
        pytest.skip("no C compiler for Linux on PATH")
    library = tmp_path_factory.mktemp("stub") / driver_stub.SONAME
    warnings = ["-Wall", "-Wextra", "-Werror"]
    subprocess.run([COMPILER, *warnings, "-shared", "-fPIC", "-DDRIVER_STUB_VERSION=12040", "-o", library, driver_stub.SOURCE], check=True)
    return ctypes.CDLL(str(library))


def test_the_driver_has_a_version_and_no_device(driver: ctypes.CDLL) -> None:
    number, text = ctypes.c_int(-1), ctypes.c_char_p()
    assert driver.cuDriverGetVersion(ctypes.byref(number)) == 0
    assert number.value == 12040
    assert driver.cuInit(0) == NO_DEVICE
    assert driver.cuDeviceGetCount(ctypes.byref(number)) == NO_DEVICE
    assert number.value == 0
    assert driver.cuGetErrorString(NO_DEVICE, ctypes.byref(text)) == 0
    assert text.value == b"no CUDA-capable device is detected"


@pytest.mark.parametrize("lookup", ["cuGetProcAddress", "cuGetProcAddress_v2"])
def test_any_function_is_found_by_name(driver: ctypes.CDLL, lookup: str) -> None:
    pointer, status = ctypes.c_void_p(), ctypes.c_int(-1)
    for name, expected in ((b"cuInit", NO_DEVICE), (b"cuStreamCreateOfTheFuture", NO_DEVICE)):
        arguments = [name, ctypes.byref(pointer), 13010, ctypes.c_uint64(0), ctypes.byref(status)]
        assert getattr(driver, lookup)(*arguments[: 5 if lookup.endswith("v2") else 4]) == 0
        assert ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint)(pointer.value)(0) == expected
    assert driver.cuGetProcAddress(None, ctypes.byref(pointer), 13010, ctypes.c_uint64(0)) == 1


def test_it_exports_every_function_of_the_driver_that_the_plugin_calls(driver: ctypes.CDLL) -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (VENDOR / "ggml" / "src" / "ggml-cuda").rglob("*.cu*"))
    called = set(re.findall(r"\b(cu[A-Z]\w+)\(", sources)) - {"cuBLAS"}
    if not called:
        pytest.skip("the llama.cpp submodule is not populated")
    assert {"cuMemCreate", "cuDeviceGetAttribute"} <= called
    assert [name for name in called if not hasattr(driver, name)] == []


def test_the_builder_states_the_name_and_the_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran: list[list[str]] = []
    ready = ReadyToolchain(name="zig", defines={"CMAKE_C_COMPILER": "/zig/cc"}, identity="")
    monkeypatch.setattr(toolchains, "prepare", lambda *_: ready)
    monkeypatch.setattr(driver_stub, "run_logged", lambda command, **_: ran.append([str(word) for word in command]))
    assert driver_stub.build_driver_stub(tmp_path / "new", release="11.4") == tmp_path / "new" / "libcuda.so.1"
    assert ran[0][0] == "/zig/cc"
    assert {"-Wl,-soname,libcuda.so.1", "-DDRIVER_STUB_VERSION=11040"} <= set(ran[0])
