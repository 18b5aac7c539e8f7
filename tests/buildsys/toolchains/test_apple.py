"""Xcode's compiler with the OpenMP runtime of the package index, as its table states it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from buildsys import toolchains
from buildsys.errors import ToolchainError
from buildsys.matrix import select
from buildsys.toolchains import packages


@pytest.fixture
def mac(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """A machine with clang on PATH, and each command that installs packages."""
    installed: list[list[str]] = []
    for name in ("clang", "clang++"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\necho Apple clang version 17.0.0\n", encoding="utf-8")
        program.chmod(0o755)

    def pip(command: list[str], **_: object) -> None:
        installed.append(command)
        library = Path(command[command.index("--target") + 1]) / "cmeel.prefix" / "lib" / "libomp.dylib"
        library.parent.mkdir(parents=True)
        library.touch()

    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("LLAMA_CPP_BUILD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(packages, "run_logged", pip)
    return installed


def test_both_machines_are_compiled_for_the_release_that_their_row_names(mac: list[list[str]], tmp_path: Path) -> None:
    ready = {row.machine: toolchains.prepare("apple", row.target) for row in select(["macos_*"])}
    assert set(ready) == {"arm64", "x86_64"}
    for machine, toolchain in ready.items():
        assert toolchain.defines["CMAKE_C_COMPILER"] == str(tmp_path / "bin" / "clang")
        assert toolchain.defines["CMAKE_OSX_ARCHITECTURES"] == machine
        assert toolchain.defines["CMAKE_OSX_DEPLOYMENT_TARGET"] == "14.0"
    assert [command[command.index("--platform") + 1] for command in mac] == ["macosx_11_0_arm64", "macosx_11_0_x86_64"]
    assert ready["arm64"].identity != ready["x86_64"].identity


def test_the_compiler_is_told_of_openmp_as_it_understands_it(mac: list[list[str]]) -> None:
    ready = toolchains.prepare("apple", "arm64-apple-macos14.0")
    library = Path(ready.defines["OpenMP_omp_LIBRARY"])
    assert library.parts[-2:] == ("lib", "libomp.dylib")
    include = library.parent.parent / "include"
    assert ready.defines["OpenMP_C_FLAGS"] == ready.defines["OpenMP_CXX_FLAGS"] == f"-Xclang -fopenmp -isystem {include}"
    toolchains.prepare("apple", "arm64-apple-macos14.0")
    assert len(mac) == 1, "installed once"


def test_the_tag_of_a_mac_row_names_the_release_that_it_is_compiled_for() -> None:
    for row in select(["macos_*"]):
        deployment = toolchains.target_values(row.target)["deployment"]
        assert row.platform_tag == f"macosx_{deployment.replace('.', '_')}_{row.machine}"


@pytest.mark.usefixtures("mac")
def test_without_xcode_the_next_step_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError) as caught:
        toolchains.prepare("apple", "arm64-apple-macos14.0")
    assert caught.value.hint == "xcode-select --install"
