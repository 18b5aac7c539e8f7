"""The repair stage: each system's own tool checks a packaged wheel and gives it the platform tag that it earns.

Everything a wheel needs is inside already, or in the packages it declares: a tool that would have to bring in a
library fails instead.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Protocol, cast

from buildsys.matrix import BuildRow

_MODULES = {"linux": "buildsys.repair.linux", "windows": "buildsys.repair.windows", "macos": "buildsys.repair.macos"}


class _Repairer(Protocol):
    def repair(self, row: BuildRow, packaged: Path, destination: Path, *, log: Path) -> None: ...


def repair(row: BuildRow, packaged: Path, destination: Path, *, log: Path) -> None:
    """Write the repaired form of `packaged` into `destination`.

    Raises:
        CommandFailedError: the tool refused the wheel; the message has its words.
    """
    cast("_Repairer", importlib.import_module(_MODULES[row.system])).repair(row, packaged, destination, log=log)
