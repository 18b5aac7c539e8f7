"""delvewheel: follows the import table of every DLL in the wheel, and fails for one that is neither there nor Windows' own."""

from __future__ import annotations

import sys
from pathlib import Path

from buildsys.matrix import BuildRow
from buildsys.process import run_logged

# What the nvidia-* packages bring, and the driver: needed by a plugin of the wheel, found at run time, never grafted.
_FROM_ELSEWHERE = ("nvcuda.dll", "cudart64_*.dll", "cublas64_*.dll", "cublaslt64_*.dll")
# What every Python on Windows has loaded already: the one need of the prebuilt OpenMP runtime.
_FROM_PYTHON = ("vcruntime140.dll",)


def repair(row: BuildRow, packaged: Path, destination: Path, *, log: Path) -> None:
    """Put `packaged`, once nothing is missing in it, into `destination`.

    The DLLs lie side by side and find each other by name, so no name is mangled, and delvewheel gets no PATH on which
    it could find a DLL of this machine to graft.
    """
    options = ["--analyze-existing", "--ignore-existing", "--no-mangle-all", "--wheel-dir", str(destination)]
    excluded = _FROM_PYTHON + (_FROM_ELSEWHERE if row.cuda is not None else ())
    options += [word for pattern in excluded for word in ("--exclude", pattern)]
    command = [sys.executable, "-m", "delvewheel", "repair", *options, str(packaged)]
    run_logged(command, log=log, label=f"{row.identifier}: repairing", env={"PATH": ""})
