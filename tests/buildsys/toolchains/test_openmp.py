from __future__ import annotations

from pathlib import Path

import pytest

from buildsys import toolchains
from buildsys.errors import ToolchainError
from buildsys.matrix import select
from buildsys.toolchains.openmp import beside_compiler, openmp_defines
from buildsys.toolchains.table import OpenMP

SAME_FILE = OpenMP(include="include", library="lib/libomp.so")
IMPORT_LIBRARY = OpenMP(include="", library="../lib/libomp.lib", runtime="../bin/libomp.dll")


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def test_a_library_that_is_the_runtime_is_stated_once(tmp_path: Path) -> None:
    library = touch(tmp_path / "lib" / "libomp.so")
    defines = openmp_defines(SAME_FILE, lambda file: tmp_path / file)
    assert defines["OpenMP_omp_LIBRARY"] == str(library)
    assert defines["OpenMP_CXX_FLAGS"] == defines["OpenMP_C_FLAGS"] == f"-fopenmp -isystem {tmp_path}/include"
    assert "LLAMA_CPP_OPENMP_RUNTIME" not in defines


def test_an_import_library_comes_with_the_runtime_to_bundle(tmp_path: Path) -> None:
    compiler, library, runtime = (touch(tmp_path / "LLVM" / name) for name in ("bin/clang.exe", "lib/libomp.lib", "bin/libomp.dll"))
    defines = openmp_defines(IMPORT_LIBRARY, beside_compiler(str(compiler), "llvm-windows", "install it"))
    assert defines["OpenMP_omp_LIBRARY"] == str(library)
    assert defines["LLAMA_CPP_OPENMP_RUNTIME"] == str(runtime)
    assert defines["OpenMP_C_FLAGS"] == "-fopenmp"


def test_an_installation_without_the_runtime_is_refused(tmp_path: Path) -> None:
    compiler = touch(tmp_path / "LLVM" / "bin" / "clang.exe")
    touch(tmp_path / "LLVM" / "lib" / "libomp.lib")
    with pytest.raises(ToolchainError, match=r"bin/libomp\.dll does not exist"):
        openmp_defines(IMPORT_LIBRARY, beside_compiler(str(compiler), "llvm-windows", "install it"))


def test_windows_is_released_with_llvm_s_own_runtime() -> None:
    for row in select(["windows_amd64-*"]):
        openmp = toolchains.listed()[row.toolchain].openmp
        assert Path(openmp.runtime).name == "libomp.dll"


def test_each_import_library_names_its_runtime() -> None:
    """Linking an import library without bundling the DLL is the fault of a wheel that doesn't load."""
    stated = [toolchain.openmp for toolchain in toolchains.listed().values() if toolchain.openmp.library.endswith(".lib")]
    assert len(stated) == 2
    assert all(openmp.runtime.endswith(".dll") for openmp in stated)
