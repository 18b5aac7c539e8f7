"""Compilers as data: `buildsys/toolchains.toml`, and making one of them ready for a row of the matrix."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec
from filelock import FileLock

from buildsys.errors import ToolchainError
from buildsys.process import run_logged
from buildsys.project import ROOT, cache_dir
from buildsys.tables import load_toml
from buildsys.toolchains.strip import strip_elf


class OpenMP(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The OpenMP runtime that belongs to the compiler; a bare `library` name is asked of the compiler."""

    include: str
    library: str


class Toolchain(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A compiler: either installed from the package index, or found on the system."""

    summary: str
    openmp: OpenMP
    cmake: dict[str, str]
    requirements: tuple[str, ...] = ()
    launchers: dict[str, tuple[str, ...]] = {}
    programs: dict[str, tuple[str, ...]] = {}
    install_hint: str = ""

    def __post_init__(self) -> None:
        if bool(self.requirements) == bool(self.programs):
            raise ValueError("a toolchain has either requirements or programs")


class Toolchains(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All toolchains by name."""

    toolchain: dict[str, Toolchain]


@dataclass(frozen=True, kw_only=True)
class ReadyToolchain:
    """A toolchain that can be called now: CMake's definitions, and what identifies it in the cache key."""

    name: str
    defines: Mapping[str, str]
    identity: str


@cache
def toolchains() -> dict[str, Toolchain]:
    """Every toolchain of the table."""
    return load_toml(ROOT / "buildsys" / "toolchains.toml", Toolchains).toolchain


def prepare(name: str, target: str) -> ReadyToolchain:
    """Install or find the toolchain `name` and make its launchers for `target`.

    Raises:
        ToolchainError: no such toolchain, or a part of it is missing; the message says which.
    """
    toolchain = toolchains().get(name)
    if toolchain is None:
        raise ToolchainError(f"unknown toolchain {name!r}", hint=f"choose from: {', '.join(toolchains())}")
    if toolchain.requirements:
        return _from_package_index(name, toolchain, target)
    return _from_system(name, toolchain)


def _from_package_index(name: str, toolchain: Toolchain, target: str) -> ReadyToolchain:
    key = hashlib.sha256("\n".join(toolchain.requirements).encode()).hexdigest()[:12]
    root = cache_dir() / "toolchains" / f"{name}-{key}"
    root.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{root}.lock"):
        if not root.is_dir():
            _install_requirements(name, toolchain, root)
        launchers = _write_launchers(root, toolchain, target)
    values = {"root": str(root), "target": target, "launchers": str(launchers)}
    defines = {key: value.format_map(values) for key, value in toolchain.cmake.items()}
    library = Path(toolchain.openmp.library.format_map(values))
    include = toolchain.openmp.include.format_map(values)
    return ReadyToolchain(
        name=name,
        defines={**defines, **_openmp_defines(library, f"-isystem {include}")},
        identity="\n".join([*toolchain.requirements, target, repr(sorted(toolchain.launchers.items()))]),
    )


def _install_requirements(name: str, toolchain: Toolchain, root: Path) -> None:
    staging = root.with_name(f"{root.name}.part")
    shutil.rmtree(staging, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(staging)]
    run_logged([*pip, *toolchain.requirements], log=root.with_suffix(".log"), label=f"toolchain {name}: installing")
    strip_elf(Path(toolchain.openmp.library.format(root=staging)))
    staging.rename(root)


def _write_launchers(root: Path, toolchain: Toolchain, target: str) -> Path:
    """CMake wants each tool as one program: small scripts that hold the sub-command and the target."""
    folder = root / "launchers" / target
    folder.mkdir(parents=True, exist_ok=True)
    values = {"root": str(root), "target": target}
    for tool, words in toolchain.launchers.items():
        command = shlex.join(word.format_map(values) for word in words)
        script = folder / tool
        text = f'#!/bin/sh\nexport ZIG_GLOBAL_CACHE_DIR={shlex.quote(str(root / "zig-cache"))}\nexec {command} "$@"\n'
        if not script.exists() or script.read_text(encoding="utf-8") != text:
            script.write_text(text, encoding="utf-8")
            script.chmod(0o755)
    return folder


def _from_system(name: str, toolchain: Toolchain) -> ReadyToolchain:
    found: dict[str, str] = {}
    for role, candidates in toolchain.programs.items():
        program = next((path for path in map(shutil.which, candidates) if path), None)
        if program is None:
            raise ToolchainError(f"toolchain {name}: none of {', '.join(candidates)} is on PATH", hint=toolchain.install_hint)
        found[role] = program
    library = Path(_ask(found["cc"], f"-print-file-name={toolchain.openmp.library}"))
    if not library.is_absolute():
        message = f"toolchain {name}: {found['cc']} has no {toolchain.openmp.library} beside it"
        raise ToolchainError(message, hint=toolchain.install_hint)
    defines = {key: value.format_map(found) for key, value in toolchain.cmake.items()}
    return ReadyToolchain(
        name=name,
        defines={**defines, **_openmp_defines(library.resolve(), "")},
        identity="\n".join([_ask(found["cc"], "--version"), str(library.resolve())]),
    )


def _ask(program: str, argument: str) -> str:
    try:
        return subprocess.run([program, argument], check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        raise ToolchainError(f"{program} {argument} failed: {error}", hint="check the installation of the compiler") from error


def _openmp_defines(library: Path, include_flag: str) -> dict[str, str]:
    if not library.is_file():
        raise ToolchainError(f"the OpenMP runtime {os.fspath(library)} does not exist", hint="reinstall the toolchain")
    flags = f"-fopenmp {include_flag}".strip()
    return {
        "OpenMP_C_FLAGS": flags,
        "OpenMP_CXX_FLAGS": flags,
        "OpenMP_C_LIB_NAMES": "omp",
        "OpenMP_CXX_LIB_NAMES": "omp",
        "OpenMP_omp_LIBRARY": str(library),
    }
