"""A stand-in for NVIDIA's driver, compiled from `driver_stub.c`: for linking, and for tests without a GPU."""

from __future__ import annotations

from pathlib import Path

from buildsys import toolchains
from buildsys.process import run_logged

SOURCE = Path(__file__).with_name("driver_stub.c")
SONAME = "libcuda.so.1"
TARGET = "x86_64-linux-gnu.2.28"


def build_driver_stub(folder: Path, *, release: str = "13.1") -> Path:
    """Compile `folder`/libcuda.so.1, the driver of a system without GPUs that supports CUDA up to `release`.

    With `folder` in LD_LIBRARY_PATH, a program gets as far as enumerating zero devices. A lower `release` than that of
    the CUDA runtime makes it say that the driver is too old.
    """
    compiler = toolchains.prepare("zig", TARGET).defines["CMAKE_C_COMPILER"]
    major, minor = map(int, release.split("."))
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / SONAME
    flags = ["-shared", "-fPIC", "-O2", "-s", f"-Wl,-soname,{SONAME}", f"-DDRIVER_STUB_VERSION={1000 * major + 10 * minor}"]
    run_logged([compiler, *flags, "-o", library, SOURCE], log=folder / "driver-stub.log", label="CUDA driver stub: compiling")
    return library
