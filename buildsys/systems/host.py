"""What this machine must have before a root can be made or entered: rights, programs, and an emulator for other processors."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from buildsys.errors import ToolchainError
from buildsys.process import console
from buildsys.programs import Program, ProgramMissingError, apt_get, find_program

if TYPE_CHECKING:
    from buildsys.systems.table import System

DEBOOTSTRAP = Program(
    names=("debootstrap",),
    package="debootstrap",
    advice="install it: `apt-get install debootstrap` (Debian, Ubuntu), `dnf install debootstrap` (Fedora), `pacman -S debootstrap` (Arch)",
)
BUBBLEWRAP = Program(
    names=("bwrap",),
    package="bubblewrap",
    advice="install it: `apt-get install bubblewrap` (Debian, Ubuntu), `dnf install bubblewrap` (Fedora), `pacman -S bubblewrap` (Arch)",
)
KEYRINGS = (Path("/usr/share/keyrings/debian-archive-keyring.gpg"), Path("/usr/share/keyrings/debian-archive-keyring.pgp"))
KEYRING_PACKAGE = "debian-archive-keyring"
HANDLERS = Path("/proc/sys/fs/binfmt_misc")
_EMULATOR_ADVICE = (
    "`apt-get install qemu-user-static binfmt-support` registers it on Debian and Ubuntu; in a container the machine outside must have it, "
    "by the same packages"
)
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


class RightsMissingError(ToolchainError):
    """Roots can be made and entered only by root, or by one who is root in a user namespace."""


class EmulationMissingError(ProgramMissingError):
    """The kernel doesn't hand programs of another processor to qemu."""


@dataclass(frozen=True, kw_only=True)
class Host:
    """The programs that make and enter roots, and the keys that Debian's packages are verified with."""

    debootstrap: str
    bubblewrap: str
    keyring: Path


def prepare(system: System) -> Host:
    """Check that this machine can make and run `system`; installs what is missing where that is allowed.

    Raises:
        ToolchainError: a subclass that says what is missing and how to get it.
    """
    if not sys.platform.startswith("linux"):
        raise RightsMissingError("Debian roots run on Linux only", hint="run `systems` on Linux or in WSL")
    if os.geteuid() != 0:
        raise RightsMissingError(
            "making and entering a Debian root needs root's rights",
            hint="run it with sudo, or as root of a user namespace: `unshare --map-root-user --map-auto python -m buildsys systems`",
        )
    host = Host(debootstrap=find_program(DEBOOTSTRAP), bubblewrap=find_program(BUBBLEWRAP), keyring=_keyring())
    if is_foreign(system):
        _enable_emulation(system.machine)
    return host


def is_foreign(system: System) -> bool:
    """Whether this machine's processor can't run the system's programs by itself."""
    own = platform.machine()
    return _MACHINES.get(own.lower(), own) != system.machine


def _keyring() -> Path:
    advice = f"install it: `apt-get install {KEYRING_PACKAGE}` (Debian, Ubuntu), `dnf install debian-keyring` (Fedora)"
    found = _existing(KEYRINGS)
    if found is None and shutil.which("apt-get"):
        apt_get(KEYRING_PACKAGE, advice=advice)
        found = _existing(KEYRINGS)
    if found is None:
        raise ProgramMissingError(f"Debian's keys are not at {KEYRINGS[0]}: packages could not be verified", hint=advice)
    return found


def _existing(paths: tuple[Path, ...]) -> Path | None:
    return next((path for path in paths if path.is_file()), None)


def _enable_emulation(machine: str) -> None:
    if _handled(machine):
        return
    if shutil.which("apt-get"):
        console.print(f"programs for {machine} are not emulated here: installing qemu-user-static and binfmt-support with apt-get")
        apt_get("qemu-user-static", "binfmt-support", missing=EmulationMissingError, advice=_EMULATOR_ADVICE)
        for command in (["mount", "-t", "binfmt_misc", "binfmt_misc", str(HANDLERS)], ["update-binfmts", "--enable", f"qemu-{machine}"]):
            if not _handled(machine):
                subprocess.run(command, capture_output=True, check=False)
    if not _handled(machine):
        raise EmulationMissingError(f"the kernel has no handler for programs of {machine} at {HANDLERS}", hint=_EMULATOR_ADVICE)


def _handled(machine: str) -> bool:
    """Whether qemu is registered in a way that works inside a root: opened beforehand (F), not looked up there."""
    try:
        stated = (HANDLERS / f"qemu-{machine}").read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    flags = next((line.partition(":")[2] for line in stated if line.startswith("flags:")), "")
    return "enabled" in stated and "F" in flags
