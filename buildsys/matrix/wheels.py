"""Which row of the matrix a wheel was built for, by its file name, and the finished wheels of a platform."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from buildsys import matrix
from buildsys.errors import WheelError
from buildsys.matrix import BuildRow
from buildsys.project import DIST

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


def built_for(platform: str, folder: Path = DIST, *, accelerated: bool = True) -> list[Path]:
    """The wheels in `folder` for a platform of the matrix, such as `linux_x86_64`, of the highest version; CUDA's only if `accelerated`.

    Raises:
        WheelError: there is none.
    """
    found = {}
    for path in sorted(folder.glob("*.whl")):
        row = row_of_wheel(path, matrix.rows())
        if row.identifier.startswith(f"{platform}-") and (accelerated or row.cuda is None):
            found[path] = parse_wheel_filename(path.name)[1].public
    if not found:
        hint = "build one with `python -m buildsys build`, or name a wheel"
        raise WheelError(f"{folder} holds no wheel for {platform}", hint=hint)
    return [path for path, version in found.items() if version == max(found.values(), key=Version)]
