from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from buildsys.errors import CommandFailedError
from buildsys.matrix import select_one
from buildsys.repair import repair
from tests.buildsys.audit.pe_files import dynamic_library
from tests.buildsys.audit.recipes import LIB, Recipe, windows_wheel

CPU = select_one("windows_amd64-cpu")
CUDA = select_one("windows_amd64-cu131")

Repair = Callable[..., Path]


@pytest.fixture
def repaired(tmp_path: Path) -> Repair:
    """Runs the stage, delvewheel included, on a recipe's wheel."""

    def run(recipe: Recipe, row: object = CPU) -> Path:
        destination = tmp_path / "repaired"
        destination.mkdir()
        packaged = recipe.write(tmp_path)
        repair(row, packaged, destination, log=tmp_path / "log")  # type: ignore[arg-type]
        (wheel,) = destination.iterdir()
        assert wheel.name == packaged.name
        assert wheel.read_bytes() == packaged.read_bytes()
        return wheel

    return run


def test_a_whole_wheel_stays_as_it_is(repaired: Repair) -> None:
    repaired(windows_wheel())


def test_a_missing_openmp_runtime_is_named(repaired: Repair) -> None:
    recipe = windows_wheel()
    del recipe.files[f"{LIB}/libomp.dll"]
    with pytest.raises(CommandFailedError, match=r"libomp\.dll"):
        repaired(recipe)


def test_a_dll_of_the_building_machine_is_not_taken(repaired: Repair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = windows_wheel()
    runtime = recipe.files.pop(f"{LIB}/libomp.dll")
    folder = tmp_path / "LLVM"
    folder.mkdir()
    (folder / "libomp.dll").write_bytes(runtime)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(CommandFailedError, match=r"libomp\.dll"):
        repaired(recipe)


def test_a_dll_of_another_machine_is_refused(repaired: Repair) -> None:
    recipe = windows_wheel()
    recipe.files[f"{LIB}/mtmd.dll"] = dynamic_library(name="mtmd.dll", machine="aarch64")
    with pytest.raises(CommandFailedError, match=r"mtmd\.dll has a CPU architecture"):
        repaired(recipe)


def test_cuda_comes_from_elsewhere_for_a_cuda_row_alone(repaired: Repair, tmp_path: Path) -> None:
    def recipe() -> Recipe:
        wheel = windows_wheel()
        wheel.dll("ggml-cuda", ["ggml-base.dll", "cudart64_13.dll", "cublas64_13.dll", "cublasLt64_13.dll", "nvcuda.dll"])
        return wheel

    repaired(recipe(), CUDA)
    with pytest.raises(CommandFailedError, match=r"not found|Unable to find"):
        repair(CPU, recipe().write(tmp_path), tmp_path / "again", log=tmp_path / "log")
