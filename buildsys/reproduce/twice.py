"""Building one wheel in two places that have as little in common as one machine allows."""

from __future__ import annotations

import fnmatch
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from buildsys.errors import CommandFailedError, WheelError
from buildsys.process import run_logged
from buildsys.project import CACHE_VARIABLE, ROOT, cache_dir
from buildsys.reproduce.dates import VARIABLE

_OUTPUTS = {"dist", "build", ".nox", ".venv"}
_CACHES = ("__pycache__", ".*_cache", ".hypothesis")
_COMPILED = "native"  # the part of the cache that holds compiled libraries
_TICK_SECONDS = 3.0  # a zip archive notes dates by two seconds


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What differs between the two builds, besides the time of day."""

    folder: str
    time_zone: str
    locale: str
    umask: int
    hash_seed: str


FIRST = Surroundings(folder="one", time_zone="Pacific/Kiritimati", locale="C", umask=0o022, hash_seed="1")
SECOND = Surroundings(folder="another/and-much.longer_place", time_zone="America/Los_Angeles", locale="C.UTF-8", umask=0o077, hash_seed="2")


def build(place: Surroundings, base: Path, identifier: str, options: Sequence[str], *, native: Path | None) -> Path:
    """The wheel that a copy of this project makes in `place`, below `base`.

    With `native`, the folder of a compiled output in the cache, the copy finds that output and the tools in its own cache and
    compiles nothing; without, it installs its own compiler.

    Raises:
        CommandFailedError: the build failed; the message has its last lines.
        WheelError: it made no wheel, or several.
    """
    project = run_copy(place, base, ["-m", "buildsys", "build", identifier, "--no-conformance", *options], native=native)
    wheels = list((project / "dist").glob("*.whl"))
    if len(wheels) != 1:
        raise WheelError(f"the build in {project} made {len(wheels)} wheels", hint="run `python -m buildsys build` there")
    return wheels[0]


def run_copy(place: Surroundings, base: Path, arguments: Sequence[str], *, native: Path | None = None) -> Path:
    """Copy this project to `place`, below `base`, and run Python with `arguments` in the copy; returns the copy.

    It has a cache and a home of its own there.
    """
    home = base / place.folder
    project = home / "project"
    shutil.rmtree(home, ignore_errors=True)
    # Without shutil.copy2's dates: the copies are of different age.
    shutil.copytree(ROOT, project, symlinks=True, ignore=_not_copied, copy_function=shutil.copy)
    cache = home / "cache"
    cache.mkdir()
    if native is not None:
        _share(native, cache)
    _run([sys.executable, *arguments], project, _environment(place, home, cache), place)
    return project


def wait_a_tick() -> None:
    """Let so much time pass that the next build's files are dated differently."""
    time.sleep(_TICK_SECONDS)


def _not_copied(folder: str, names: list[str]) -> set[str]:
    at_the_top = _OUTPUTS if Path(folder) == ROOT else set()
    return {name for name in names if name in at_the_top or any(fnmatch.fnmatchcase(name, pattern) for pattern in _CACHES)}


def _share(native: Path, cache: Path) -> None:
    """Give `cache` a copy of `native`, whose name is its key, and the tools of this cache."""
    shutil.copytree(native, cache / _COMPILED / native.name, symlinks=True)
    for entry in cache_dir().iterdir():
        if entry.is_dir() and entry.name in {"toolchains", "toolkits"}:
            _link(cache / entry.name, entry)


def _link(path: Path, target: Path) -> None:
    try:
        path.symlink_to(target, target_is_directory=True)
    except OSError:  # Windows leaves links to administrators
        shutil.copytree(target, path)


def _environment(place: Surroundings, home: Path, cache: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != VARIABLE and not name.startswith("LC_")}
    own = home / "home"
    own.mkdir()
    return {
        **kept,
        **_pip_settings(),
        "HOME": str(own),
        "USERPROFILE": str(own),
        "TZ": place.time_zone,
        "LANG": place.locale,
        "LC_ALL": place.locale,
        "PYTHONHASHSEED": place.hash_seed,
        "PYTHONDONTWRITEBYTECODE": "1",
        CACHE_VARIABLE: str(cache),
    }


def _pip_settings() -> dict[str, str]:
    """Where pip's downloads and the user's configuration lie, which it would look for in the other home."""
    asked = [sys.executable, "-m", "pip", "cache", "dir"]
    downloads = subprocess.run(asked, check=False, capture_output=True, text=True).stdout.strip()
    configuration = Path.home() / ".config" / "pip" / "pip.conf"
    settings = {"PIP_CACHE_DIR": downloads} if downloads else {}
    return (
        {**settings, "PIP_CONFIG_FILE": str(configuration)} if configuration.is_file() and "PIP_CONFIG_FILE" not in os.environ else settings
    )


def _run(command: list[str], project: Path, environment: dict[str, str], place: Surroundings) -> None:
    label = f"building in {project}, umask {place.umask:03o}, {place.time_zone}"
    umask = place.umask if os.name == "posix" else -1
    try:
        run_logged(command, log=project.parent / "log", label=label, cwd=project, env=environment, alone=True, umask=umask)
    except CommandFailedError as error:
        raise CommandFailedError(error.message, hint=f"cd {project}, and run it there: {shlex.join(command)}") from error
