"""Compiling a CPython inside an old system, for those whose own Python is older than the wheel allows."""

from __future__ import annotations

import os
import tarfile
from typing import TYPE_CHECKING

from buildsys.download import fetch
from buildsys.process import run_logged
from buildsys.project import cache_dir
from buildsys.systems.chamber import HOME, Chamber, Mount
from buildsys.systems.table import PYTHON_PREFIX

if TYPE_CHECKING:
    from pathlib import Path

    from buildsys.systems.table import PythonSource

# Neither its own tests nor the profiled build, which takes ten times as long.
_CONFIGURE = ("--disable-test-modules", "--with-ensurepip=install")


def build(source: PythonSource, compilers: Chamber, work: Path, *, mirror: str, log: Path, label: str) -> Path:
    """Compile `source` with what `compilers` has, in the new folder `work`; returns what belongs at :data:`PYTHON_PREFIX`."""
    archive = cache_dir() / "sources" / source.archive.rpartition("/")[2]
    fetch(f"{mirror}/{source.archive}", archive, sha256=source.sha256, size=source.size, label=archive.name)
    with tarfile.open(archive) as packed:
        packed.extractall(work, filter="data")
    (unpacked,) = work.iterdir()
    inside = HOME / "work"
    chamber = compilers.with_mounts(Mount(outside=work, inside=inside, writable=True))
    for step in (
        ["./configure", "--quiet", f"--prefix={PYTHON_PREFIX}", *_CONFIGURE],
        ["make", "--silent", f"--jobs={os.cpu_count() or 1}"],
        ["make", "--silent", "install", f"DESTDIR={inside / 'installed'}"],
    ):
        command = chamber.command(step, cwd=str(inside / unpacked.name))
        run_logged(command, log=log, label=f"{label}: {step[0].removeprefix('./')} {step[2] if 'install' in step else ''}".rstrip())
    return work / "installed" / PYTHON_PREFIX.lstrip("/")
