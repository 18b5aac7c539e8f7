"""Where a toolchain's OpenMP runtime is, and what CMake is told of it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from buildsys.errors import ToolchainError
from buildsys.toolchains.table import OpenMP

Locate = Callable[[str], Path]
"""From a file as the table states it to the file here."""


def openmp_defines(openmp: OpenMP, locate: Locate) -> dict[str, str]:
    """CMake's definitions: how to compile and link with the runtime, and what of it the wheel takes along.

    Raises:
        ToolchainError: a file that the table states is missing.
    """
    flags = f"{openmp.flags} -isystem {locate(openmp.include).as_posix()}" if openmp.include else openmp.flags
    stated = {"OpenMP_omp_LIBRARY": openmp.library, "LLAMA_CPP_OPENMP_RUNTIME": openmp.runtime}
    return {
        "OpenMP_C_FLAGS": flags,
        "OpenMP_CXX_FLAGS": flags,
        "OpenMP_C_LIB_NAMES": "omp",
        "OpenMP_CXX_LIB_NAMES": "omp",
        **{define: _existing(locate(file)).as_posix() for define, file in stated.items() if file},
    }


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise ToolchainError(f"the OpenMP runtime {path} does not exist", hint="reinstall the toolchain")
    return path


def beside_compiler(compiler: str, toolchain: str, hint: str) -> Locate:
    """Locates files of the `compiler` that the system has, for the toolchain of that name."""

    def locate(file: str) -> Path:
        if "/" in file:
            return (Path(compiler).resolve().parent / file).resolve()
        path = Path(ask(compiler, f"-print-file-name={file}"))
        if not path.is_absolute():
            raise ToolchainError(f"toolchain {toolchain}: {compiler} has no {file} beside it", hint=hint)
        return path.resolve()

    return locate


def ask(program: str, argument: str) -> str:
    """What a compiler answers to one argument."""
    try:
        return subprocess.run([program, argument], check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        raise ToolchainError(f"{program} {argument} failed: {error}", hint="check the installation of the compiler") from error
