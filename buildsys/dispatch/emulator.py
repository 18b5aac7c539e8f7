"""The user-mode emulator that old processors are played by."""

from __future__ import annotations

import sys

from buildsys.programs import Program, ProgramMissingError, find_program

QEMU = Program(
    names=("qemu-x86_64", "qemu-x86_64-static"),
    package="qemu-user",
    advice="install it: `apt-get install qemu-user` (Debian, Ubuntu), `dnf install qemu-user` (Fedora), `pacman -S qemu-user` (Arch)",
)


class EmulatorMissingError(ProgramMissingError):
    """qemu's user-mode emulator isn't here and couldn't be installed."""


def find_emulator() -> str:
    """Path of qemu's x86-64 user-mode emulator; installs it where this user may."""
    if not sys.platform.startswith("linux"):
        raise EmulatorMissingError("dispatch is proved under qemu-user, which runs on Linux only", hint="run `dispatch` on Linux or in WSL")
    return find_program(QEMU, EmulatorMissingError)
