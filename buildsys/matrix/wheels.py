"""Which row of the matrix a wheel was built for, by its file name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from buildsys.errors import WheelError
from buildsys.matrix import BuildRow

_PLATFORM = re.compile(r"(manylinux|linux|win|macosx)\w*?_?(x86_64|aarch64|amd64|arm64)")
_SYSTEMS = {"manylinux": "linux", "linux": "linux", "win": "windows", "macosx": "macos"}


def row_of_wheel(path: Path, rows: Sequence[BuildRow]) -> BuildRow:
    """The one of `rows` that makes a wheel of this name, repaired or not.

    Raises:
        WheelError: it is no wheel's name, or none of `rows` makes such a wheel.
    """
    try:
        _, version, _, tags = parse_wheel_filename(path.name)
    except InvalidWheelFilename as error:
        raise WheelError(f"{path}: {error}", hint="build the wheel anew; never rename one") from error
    accelerator = version.local or "cpu"
    found = {match.groups() for tag in tags if (match := _PLATFORM.fullmatch(tag.platform))}
    if len(found) == 1:
        flavour, machine = found.pop()
        for row in rows:
            if (row.system, row.machine) == (_SYSTEMS[flavour], machine) and row.accelerator in (accelerator, "metal"):
                return row
    platforms = ", ".join(sorted(tag.platform for tag in tags))
    raise WheelError(
        f"{path.name}: no row of the build matrix makes a {accelerator} wheel for {platforms}",
        hint="`python -m buildsys matrix` lists the rows; add one, or correct the wheel's version and tag",
    )
