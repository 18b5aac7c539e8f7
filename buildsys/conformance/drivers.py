"""Stand-ins for NVIDIA's driver that the suite gets for a CUDA wheel, so that it goes its way where there is no GPU."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from packaging.utils import parse_wheel_filename

from buildsys.project import cache_dir

if TYPE_CHECKING:
    from pathlib import Path

STUB = "LLAMA_TEST_CUDA_DRIVER_STUB"
OLD_STUB = "LLAMA_TEST_CUDA_OLD_DRIVER_STUB"


def variables(wheel: Path, system: str = sys.platform) -> dict[str, str]:
    """Two folders with a `libcuda.so.1` each: a driver of the wheel's CUDA release, and one of the major release before it.

    Nothing for other wheels, and where the loader has no search path that a test could set.
    """
    label = parse_wheel_filename(wheel.name)[1].local or ""
    if not label.startswith("cu") or system != "linux":
        return {}
    major, minor = int(label[2:-1]), int(label[-1])
    return {STUB: _built(f"{major}.{minor}"), OLD_STUB: _built(f"{major - 1}.0")}


def _built(release: str) -> str:
    from buildsys.toolkits.driver_stub import SONAME, SOURCE, build_driver_stub  # noqa: PLC0415 - a compiler, for CUDA wheels only

    folder = cache_dir() / "driver-stubs" / release
    library = folder / SONAME
    if not library.is_file() or library.stat().st_mtime < SOURCE.stat().st_mtime:
        build_driver_stub(folder, release=release)
    return str(folder)
