"""An environment inside a root: made and filled offline, from packages that pip downloaded on this machine for that system."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from buildsys.conformance.environment import EnvironmentSetupError, clean_variables, runtime_requirements, stated_requirements
from buildsys.errors import BuildError, CommandFailedError, DownloadError, ToolchainError
from buildsys.process import run_logged
from buildsys.systems.chamber import HOME, Chamber, Mount

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from buildsys.systems.root import Root

PYTHON = HOME / "environment" / "bin" / "python"
_WHEEL = HOME / "wheel"
_PACKAGES = HOME / "packages"
# The oldest glibc that today's wheels on the index are made for.
_OLDEST_GLIBC = 17
_LOOK = """
import json, os, platform, struct, sys
print(json.dumps({"release": platform.python_version(), "version": "%d.%d" % sys.version_info[:2],
    "glibc": os.confstr("CS_GNU_LIBC_VERSION").split()[1], "machine": platform.machine()}))
"""


class SystemUnfitError(ToolchainError):
    """A root could not be made ready for the wheel. That says nothing of the wheel."""


class PackagesUnavailableError(DownloadError):
    """The index has no packages for that system that the suite and the wheel need."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What a root turned out to be, asked of its Python: `version` as "3.11", `release` as "3.11.2"."""

    release: str
    version: str
    glibc: str
    machine: str

    @property
    def platforms(self) -> list[str]:
        """The platform tags of wheels that run there, best first."""
        newest = int(self.glibc.split(".")[1])
        tags = [f"manylinux_2_{minor}_{self.machine}" for minor in range(newest, _OLDEST_GLIBC - 1, -1)]
        return [*tags, f"manylinux2014_{self.machine}"]


def look(chamber: Chamber, interpreter: str) -> Facts:
    """Ask the Python `interpreter` of a root what it is."""
    done = run_inside(chamber, [interpreter, "-I", "-B", "-c", _LOOK], SystemUnfitError)
    return Facts(**json.loads(done))


def installed(chamber: Chamber, root: Root, facts: Facts, wheel: Path, *, interpreter: str, requirements: Path) -> Chamber:
    """`chamber` with an environment at :data:`PYTHON` in which `wheel` was just installed by the system's own pip.

    `requirements` is a pip requirements file: what is needed beside the wheel.
    """
    wanted = [*runtime_requirements(wheel), *stated_requirements(requirements)]
    key = hashlib.sha256("\n".join([facts.release, *wanted]).encode()).hexdigest()[:12]
    folder = root.environments / f"py{facts.version}-{key}"
    within = chamber.with_mounts(Mount(outside=wheel, inside=_WHEEL / wheel.name))
    if not (folder / "complete").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        packages = folder / "packages"
        download(packages, facts, wanted)
        _create(_opened(within, folder), interpreter, wanted)
        shutil.rmtree(packages)
        packages.mkdir()
        (folder / "complete").touch()
    opened = _opened(within, folder)
    _pip(
        opened, EnvironmentSetupError, "install", "--no-index", "--no-deps", "--force-reinstall", "--no-cache-dir", str(_WHEEL / wheel.name)
    )
    _pip(opened, EnvironmentSetupError, "check")
    return within.with_mounts(Mount(outside=folder / "environment", inside=PYTHON.parent.parent))


def _opened(chamber: Chamber, folder: Path) -> Chamber:
    """With the environment writable: while it is being filled."""
    environment = folder / "environment"
    environment.mkdir(exist_ok=True)
    return chamber.with_mounts(
        Mount(outside=environment, inside=PYTHON.parent.parent, writable=True), Mount(outside=folder / "packages", inside=_PACKAGES)
    )


def download(folder: Path, facts: Facts, requirements: Sequence[str]) -> None:
    """Fill `folder` with wheels of `requirements`, and of all that they need, for the Python and glibc of `facts`."""
    abi = f"cp{facts.version.replace('.', '')}"
    command = [
        *(sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--dest", str(folder)),
        *("--only-binary", ":all:", "--implementation", "cp", "--python-version", facts.version),
        *(word for name in (abi, "abi3", "none") for word in ("--abi", name)),
        *(word for name in facts.platforms for word in ("--platform", name)),
        *requirements,
    ]
    label = f"downloading packages for Python {facts.version}, glibc {facts.glibc}"
    try:
        run_logged(command, log=folder.parent / "download.log", label=label)
    except CommandFailedError as error:
        raise PackagesUnavailableError(error.message, hint=error.hint) from error


def _create(chamber: Chamber, interpreter: str, wanted: Sequence[str]) -> None:
    run_inside(chamber, [interpreter, "-I", "-m", "venv", str(PYTHON.parent.parent)], SystemUnfitError)
    _pip(chamber, SystemUnfitError, "install", "--no-index", "--find-links", str(_PACKAGES), "--only-binary", ":all:", *wanted)


def _pip(chamber: Chamber, failure: type[BuildError], command: str, *arguments: str) -> None:
    run_inside(chamber, [str(PYTHON), "-I", "-m", "pip", "--disable-pip-version-check", "--no-input", command, *arguments], failure)


def run_inside(chamber: Chamber, words: Sequence[str], failure: type[BuildError]) -> str:
    """Run a short program inside; returns what it printed, or raises `failure` when it ends with an error."""
    done = subprocess.run(
        chamber.command(words), env=clean_variables(), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
        raise failure(
            f"{chamber.root.parent.name}: `{' '.join(words[:6])}` ended with {done.returncode}:\n{tail}",
            hint="read the lines above; --fresh makes the root anew",
        )
    return done.stdout
