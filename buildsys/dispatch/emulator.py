"""The user-mode emulator: found, installed where that is possible, or named with the package that brings it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from buildsys.errors import ToolchainError
from buildsys.process import console

NAMES = ("qemu-x86_64", "qemu-x86_64-static")
_ADVICE = "install it: `apt-get install qemu-user` (Debian, Ubuntu), `dnf install qemu-user` (Fedora), `pacman -S qemu-user` (Arch)"


class EmulatorMissingError(ToolchainError):
    """qemu's user-mode emulator isn't here and couldn't be installed."""


def find_emulator() -> str:
    """Path of qemu's x86-64 user-mode emulator; installs it where this user may."""
    if not sys.platform.startswith("linux"):
        raise EmulatorMissingError("dispatch is proved under qemu-user, which runs on Linux only", hint="run `dispatch` on Linux or in WSL")
    return _on_path() or _install()


def _on_path() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def _install() -> str:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise EmulatorMissingError(f"{NAMES[0]} is not on PATH", hint=_ADVICE)
    console.print(f"{NAMES[0]} is not here: installing the package qemu-user with apt-get")
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "qemu-user"]):
        done = subprocess.run(
            command,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise EmulatorMissingError(f"`{' '.join(command)}` ended with {done.returncode}:\n{done.stdout[-2000:]}", hint=_ADVICE)
    found = _on_path()
    if found is None:
        raise EmulatorMissingError(f"the package qemu-user brought no {NAMES[0]}", hint=_ADVICE)
    return found
