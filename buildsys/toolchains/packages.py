"""What a toolchain takes from the package index, installed once into a folder of the cache."""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from filelock import FileLock

from buildsys.process import run_logged
from buildsys.project import cache_dir
from buildsys.toolchains.table import Toolchain

TARGET_FOLDER = "target"
"""Beside the packages for this machine: those for the target."""


def requirements_of(toolchain: Toolchain, machine: str) -> list[str]:
    """Every package, those for the target with their platform: what identifies an installation."""
    stated = list(toolchain.requirements)
    if target := toolchain.target_packages:
        stated += [f"{requirement} for {target.platform.format(machine=machine)}" for requirement in target.requirements]
    return stated


def install(name: str, toolchain: Toolchain, machine: str, finish: Callable[[Path], None]) -> Path:
    """The folder with the packages of the toolchain `name`; `finish` is called once on a new one, before others see it."""
    key = hashlib.sha256("\n".join(requirements_of(toolchain, machine)).encode()).hexdigest()[:12]
    root = cache_dir() / "toolchains" / f"{name}-{key}"
    root.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{root}.lock"):
        if not root.is_dir():
            staging = root.with_name(f"{root.name}.part")
            shutil.rmtree(staging, ignore_errors=True)
            if toolchain.requirements:
                _pip(name, root, ["--target", str(staging), *toolchain.requirements])
            if target := toolchain.target_packages:
                options = ["--platform", target.platform.format(machine=machine), "--only-binary", ":all:"]
                _pip(name, root, [*options, "--target", str(staging / TARGET_FOLDER), *target.requirements])
            finish(staging)
            staging.rename(root)
    return root


def _pip(name: str, root: Path, arguments: Sequence[str]) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", *arguments]
    run_logged(command, log=root.with_suffix(".log"), label=f"toolchain {name}: installing")
