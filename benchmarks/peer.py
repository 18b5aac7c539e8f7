"""The published peer, `llama-cpp-python`: its pure Python part as a wheel, to run on our libraries.

Its source distribution is the one that carries the pinned llama.cpp, so both speak the same ABI.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from buildsys.errors import WheelError
from buildsys.process import run_logged
from buildsys.project import cache_dir, pin
from buildsys.pypi import fetch_package_file


def peer_wheel() -> Path:
    """The wheel, from the cache or made from the source distribution by its own build backend, without CMake."""
    archive = pin().archive
    if archive is None:
        raise WheelError(
            "no published package carries the pinned llama.cpp, so there is no peer of the same ABI", hint="leave out its rows"
        )
    home = cache_dir() / "benchmarks" / archive.sha256[:12]
    if not (found := sorted(home.glob("*.whl"))):
        source = fetch_package_file(archive.project, archive.filename, archive.sha256, home / archive.filename)
        staging = home / "made"
        shutil.rmtree(staging, ignore_errors=True)
        command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--config-settings=wheel.cmake=false"]
        run_logged([*command, "--wheel-dir", staging, source], log=home / "log", label="packaging the peer's Python part")
        for made in staging.glob("*.whl"):
            made.rename(home / made.name)
        source.unlink()
        found = sorted(home.glob("*.whl"))
    if len(found) != 1:
        raise WheelError(f"expected one wheel of the peer in {home}, found {len(found)}", hint=f"read {home / 'log'}, or delete the folder")
    return found[0]
