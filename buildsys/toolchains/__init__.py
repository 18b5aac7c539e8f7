"""Compilers as data: `buildsys/toolchains.toml`, and making one of them ready for a row of the matrix."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from buildsys.errors import ToolchainError
from buildsys.toolchains.openmp import Locate, ask, beside_compiler, openmp_defines
from buildsys.toolchains.packages import install, requirements_of
from buildsys.toolchains.strip import strip_elf
from buildsys.toolchains.table import Toolchain, listed

__all__ = ["ReadyToolchain", "Toolchain", "listed", "prepare", "target_values"]


@dataclass(frozen=True, kw_only=True)
class ReadyToolchain:
    """A toolchain that can be called now: CMake's definitions, and what identifies it in the cache key."""

    name: str
    defines: Mapping[str, str]
    identity: str


def prepare(name: str, target: str) -> ReadyToolchain:
    """Install or find the toolchain `name` and make its launchers for `target`.

    Raises:
        ToolchainError: no such toolchain, or a part of it is missing; the message says which.
    """
    toolchain = listed().get(name)
    if toolchain is None:
        raise ToolchainError(f"unknown toolchain {name!r}", hint=f"choose from: {', '.join(listed())}")
    if toolchain.requirements:
        return _from_package_index(name, toolchain, target)
    return _from_system(name, toolchain, target)


def target_values(target: str) -> dict[str, str]:
    """What a table may say of the target triple: `{target}`, `{machine}`, and `{deployment}`, the oldest macOS that it is for."""
    version = re.search(r"macos([\d.]+)$", target)
    return {"target": target, "machine": target.split("-", maxsplit=1)[0], "deployment": version[1] if version else ""}


def _from_package_index(name: str, toolchain: Toolchain, target: str) -> ReadyToolchain:
    machine = target_values(target)["machine"]
    root = install(name, toolchain, machine, lambda staging: _strip(Path(toolchain.openmp.library.format(root=staging))))
    launchers = _write_launchers(root, toolchain, target)
    values = {"root": str(root), "target": target, "launchers": str(launchers)}
    defines = {key: value.format_map(values) for key, value in toolchain.cmake.items()}
    if toolchain.licences:
        defines["LLAMA_CPP_TOOLCHAIN_LICENSES"] = ";".join(f"{kind}={file.format(root=root)}" for kind, file in toolchain.licences.items())
    stated = [*requirements_of(toolchain, machine), target, repr(sorted(toolchain.launchers.items())), _rewriting(toolchain)]
    return ReadyToolchain(
        name=name,
        defines={**defines, **openmp_defines(toolchain.openmp, _packaged(root))},
        identity="\n".join(filter(None, stated)),
    )


def _strip(library: Path) -> None:
    if library.suffix == ".so":
        strip_elf(library)


def _packaged(root: Path) -> Locate:
    return lambda file: Path(file.format(root=root))


def _write_launchers(root: Path, toolchain: Toolchain, target: str) -> Path:
    """CMake wants each tool as one program: small scripts that hold the sub-command and the target."""
    folder = root / "launchers" / target
    folder.mkdir(parents=True, exist_ok=True)
    values = {"root": str(root), "target": target}
    for tool, words in toolchain.launchers.items():
        command = shlex.join(word.format_map(values) for word in words)
        script = folder / tool
        cache_line = f"export ZIG_GLOBAL_CACHE_DIR={shlex.quote(str(root / 'zig-cache'))}"
        text = f'#!/bin/sh\n{cache_line}\n{_rewriting(toolchain)}exec {command} "$@"\n'
        if not script.exists() or script.read_text(encoding="utf-8") != text:
            script.write_text(text, encoding="utf-8")
            script.chmod(0o755)
    return folder


def _rewriting(toolchain: Toolchain) -> str:
    return Path(__file__).with_name(toolchain.rewrite).read_text(encoding="utf-8") if toolchain.rewrite else ""


def _from_system(name: str, toolchain: Toolchain, target: str) -> ReadyToolchain:
    found = target_values(target)
    for role, candidates in toolchain.programs.items():
        program = next((path for path in map(shutil.which, candidates) if path), None)
        if program is None:
            raise ToolchainError(f"toolchain {name}: none of {', '.join(candidates)} is on PATH", hint=toolchain.install_hint)
        found[role] = Path(program).as_posix()
    defines = {key: value.format_map(found) for key, value in toolchain.cmake.items()}
    compiler = ask(found["cc"], "--version")
    if toolchain.target_packages:
        root = install(name, toolchain, found["machine"], lambda _staging: None)
        openmp = openmp_defines(toolchain.openmp, _packaged(root))
        identity = [compiler, target, *requirements_of(toolchain, found["machine"]), toolchain.openmp.flags]
    else:
        openmp = openmp_defines(toolchain.openmp, beside_compiler(found["cc"], name, toolchain.install_hint))
        identity = [compiler, openmp["OpenMP_omp_LIBRARY"]]
    return ReadyToolchain(name=name, defines={**defines, **openmp}, identity="\n".join(identity))
