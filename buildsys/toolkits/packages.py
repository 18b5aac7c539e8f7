"""The provider kind `packages`: wheels from the package index, and Debian's packages where a part is only there."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from buildsys.process import run_logged
from buildsys.toolkits import assembly, debian_archive
from buildsys.toolkits.debian_archive import Archive
from buildsys.toolkits.provider import Provider
from buildsys.toolkits.request import Request


class PackagesProvider(Provider, frozen=True, kw_only=True, tag="packages"):
    """Wheels (and Debian packages), laid out as a toolkit: `layout` says by folder which of their files belong there."""

    wheels: tuple[str, ...]
    layout: dict[str, tuple[str, ...]]
    archive: Archive | None = None

    def obstacle_here(self, request: Request) -> str:  # noqa: ARG002 - the same for every release
        """Why this machine cannot unpack Debian's packages, if they are needed."""
        return debian_archive.obstacle() if self.archive else ""

    def obtain(self, request: Request, place: Path) -> Path:
        """Install and lay out, once."""
        if not place.is_dir():
            parts, staging = place.with_name(f"{place.name}.parts"), place.with_name(f"{place.name}.part")
            for folder in (parts, staging):
                shutil.rmtree(folder, ignore_errors=True)
            self._install(request, parts, log=place.with_name(f"{place.name}.log"))
            assembly.gather(self.layout, parts, staging, request)
            assembly.complete(staging, request)
            staging.rename(place)
            shutil.rmtree(parts)
        return place

    def _install(self, request: Request, parts: Path, *, log: Path) -> None:
        log.unlink(missing_ok=True)
        label = f"CUDA {request.release} toolkit"
        if self.archive:
            debian_archive.unpack(self.archive, parts, log=log, label=label)
        pip: list[str | Path] = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--only-binary",
            ":all:",
            "--no-compile",
            "--target",
            parts,
        ]
        run_logged([*pip, *map(request.fill, self.wheels)], log=log, label=f"{label}: installing wheels")
