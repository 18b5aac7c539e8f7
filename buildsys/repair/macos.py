"""delocate: checks that every library is for the row's machine and for no newer macOS than the tag says."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

from buildsys.errors import WheelError
from buildsys.matrix import BuildRow
from buildsys.process import run_logged

_GRAFTED = ".dylibs"


def repair(row: BuildRow, packaged: Path, destination: Path, *, log: Path) -> None:
    """Give `packaged` its macOS tag; delocate signs again what it changes.

    Raises:
        CommandFailedError: delocate refused the wheel.
        WheelError: a library from outside would have to come in.
    """
    oldest = ".".join(row.platform_tag.split("_")[1:3])
    options = ["--require-archs", row.machine, "--require-target-macos-version", oldest, "--lib-sdir", _GRAFTED]
    command = [sys.executable, "-m", "delocate.cmd.delocate_wheel", *options, "--wheel-dir", str(destination), "-v", str(packaged)]
    run_logged(command, log=log, label=f"{row.identifier}: repairing")
    for wheel in destination.glob("*.whl"):
        grafted = _grafted(wheel)
        if grafted:
            hint = "what it needs belongs into llama_cpp/lib: see what the libraries link with `otool -L`"
            raise WheelError(f"{packaged.name} needs {', '.join(grafted)} of the building machine", hint=hint)


def _grafted(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return [name.rpartition("/")[2] for name in archive.namelist() if _GRAFTED in name.split("/")[:-1]]
