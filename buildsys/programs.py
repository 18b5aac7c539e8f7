"""Programs that commands take from the system: found, installed where that is allowed, or named with the package that brings them."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass

from buildsys.errors import ToolchainError
from buildsys.process import console

# Where Debian keeps what its administrators run; a user's PATH leaves it out.
_ADMINISTRATION = "/usr/sbin:/sbin"


class ProgramMissingError(ToolchainError):
    """A program isn't here and couldn't be installed."""


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program by any of its `names`, Debian's `package` that brings it, and `advice` for people on other systems."""

    names: tuple[str, ...]
    package: str
    advice: str


def find_program(program: Program, missing: type[ProgramMissingError] = ProgramMissingError) -> str:
    """Path of the program, after installing its package where apt-get is here and this user may.

    Raises:
        ProgramMissingError: the class `missing`, whose hint is the program's advice.
    """
    return _on_path(program) or _install(program, missing)


def _on_path(program: Program) -> str | None:
    places = os.pathsep.join([os.environ.get("PATH", os.defpath), _ADMINISTRATION])
    return next((path for name in program.names if (path := shutil.which(name, path=places))), None)


def _install(program: Program, missing: type[ProgramMissingError]) -> str:
    name, package = program.names[0], program.package
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise missing(f"{name} is not on PATH", hint=program.advice)
    console.print(f"{name} is not here: installing the package {package} with apt-get")
    apt_get(package, missing=missing, advice=program.advice)
    found = _on_path(program)
    if found is None:
        raise missing(f"the package {package} brought no {name}", hint=program.advice)
    return found


def apt_get(*packages: str, missing: type[ProgramMissingError] = ProgramMissingError, advice: str) -> None:
    """Install packages of Debian on this machine, as root."""
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]):
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
            raise missing(f"`{' '.join(command)}` ended with {done.returncode}:\n{done.stdout[-2000:]}", hint=advice)
