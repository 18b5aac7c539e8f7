"""auditwheel: the newest glibc symbol that is used decides the manylinux tag."""

from __future__ import annotations

import sys
from pathlib import Path

from buildsys.matrix import BuildRow
from buildsys.process import run_logged

# What the nvidia-* packages bring, and the driver: needed by a plugin of the wheel, found at run time, never grafted.
_FROM_ELSEWHERE = ("libcuda.so.*", "libcudart.so.*", "libcublas.so.*", "libcublasLt.so.*")


def repair(row: BuildRow, packaged: Path, destination: Path, *, log: Path) -> None:
    """Give `packaged` its manylinux tag."""
    options = ["--plat", "auto", "--only-plat", "-z", "9", "--wheel-dir", str(destination)]
    if row.cuda is not None:
        options += [word for pattern in _FROM_ELSEWHERE for word in ("--exclude", pattern)]
    run_logged([sys.executable, "-m", "auditwheel", "repair", *options, packaged], log=log, label=f"{row.identifier}: repairing")
