"""Packages installed with dnf: only inside a container, because they become part of the system."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from buildsys.process import run_logged

_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))
_VARIABLES = ("AUDITWHEEL_PLAT", "container")


def obstacle() -> str:
    """Why packages must not or cannot be installed on this system; empty if they can."""
    if shutil.which("dnf") is None:
        return "needs dnf"
    if any(mark.exists() for mark in _MARKS) or any(os.environ.get(name) for name in _VARIABLES):
        return ""
    return "installs into the system, so only inside a container"


def install(packages: Sequence[str], *, repository: str = "", log: Path, label: str) -> None:
    """Install `packages`, from `repository` (the address of a .repo file) if one is given; what is there already stays."""
    if repository:
        run_logged(["dnf", "-y", "install", "dnf-plugins-core"], log=log, label=f"{label}: preparing dnf")
        run_logged(["dnf", "config-manager", "--add-repo", repository], log=log, label=f"{label}: adding the repository")
    run_logged(["dnf", "-y", "install", "--setopt=install_weak_deps=False", *packages], log=log, label=f"{label}: installing")
