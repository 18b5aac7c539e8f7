"""Clean environments for proving wheels: created once per Python and set of requirements, a wheel put in freshly each time."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from email.parser import HeaderParser
from typing import TYPE_CHECKING

import filelock
from packaging.requirements import Requirement

from buildsys.errors import ConformanceFailedError, WheelError
from buildsys.process import console
from buildsys.project import cache_dir

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from buildsys.conformance.interpreters import Interpreter

# What of the caller's environment could change what is imported or loaded.
_WITHHELD = ("PYTHON", "LLAMA_", "GGML_", "MTMD_", "LD_", "DYLD_", "PIP_", "OMP_", "KMP_", "GOMP_", "VIRTUAL_ENV")
_KEPT = (
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_TRUSTED_HOST",
    "PIP_CERT",
    "PIP_CACHE_DIR",
    "PIP_CONFIG_FILE",
    "PIP_PROXY",
    "PIP_FIND_LINKS",
    "PIP_NO_INDEX",
)


class EnvironmentSetupError(ConformanceFailedError):
    """The environment of a Python could not be made, or the wheel could not be installed into it."""


@dataclass(frozen=True, kw_only=True)
class Environment:
    """A virtual environment with the wheel installed; `python` is its interpreter."""

    interpreter: Interpreter
    root: Path

    @property
    def python(self) -> Path:
        """The environment's own executable."""
        return self.root / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def clean_variables(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The caller's environment variables less those that steer Python, the loader or the runtime, plus `extra`."""
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or not name.startswith(_WITHHELD)}
    return {**kept, **(extra or {})}


def runtime_requirements(wheel: Path) -> tuple[str, ...]:
    """What the wheel's METADATA says it needs, extras left out."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA") and name.count("/") == 1]
        if len(names) != 1:
            raise WheelError(f"{wheel.name} holds {len(names)} METADATA files, not one", hint="build the wheel again")
        headers = HeaderParser().parsestr(archive.read(names[0]).decode("utf-8"))
    stated = (Requirement(text) for text in headers.get_all("Requires-Dist") or [])
    return tuple(str(item) for item in stated if not (item.marker and "extra" in str(item.marker)))


@contextmanager
def installed(wheel: Path, interpreter: Interpreter, requirements: Path) -> Iterator[Environment]:
    """An environment of `interpreter` with `wheel` just installed in it, reserved for the caller while the block runs.

    `requirements` is a pip requirements file: what the caller needs beside the wheel.
    """
    wanted = (*runtime_requirements(wheel), *stated_requirements(requirements))
    environment = Environment(interpreter=interpreter, root=_root(interpreter, wanted))
    environment.root.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(f"{environment.root}.lock"):
        _create(environment, wanted)
        _pip(environment, "install", "--no-deps", "--force-reinstall", "--no-cache-dir", str(wheel))
        _pip(environment, "check")
        yield environment


def stated_requirements(requirements: Path) -> list[str]:
    """The requirements of a pip requirements file, comments left out."""
    lines = (line.split("#")[0].strip() for line in requirements.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line]


def _root(interpreter: Interpreter, wanted: Sequence[str]) -> Path:
    key = hashlib.sha256("\n".join([str(interpreter.path), interpreter.release, *wanted]).encode()).hexdigest()[:12]
    return cache_dir() / "environments" / f"py{interpreter.version}-{key}"


def _create(environment: Environment, wanted: Sequence[str]) -> None:
    """Make the environment unless a complete one is there: the marker is written last."""
    marker = environment.root / "requirements-installed.txt"
    if marker.is_file() and environment.python.exists():
        return
    shutil.rmtree(environment.root, ignore_errors=True)
    with console.status(f"creating an environment of Python {environment.interpreter.release}"):
        _run(environment, [str(environment.interpreter.path), "-I", "-m", "venv", str(environment.root)])
        _pip(environment, "install", *wanted)
    marker.write_text("\n".join(wanted) + "\n", encoding="utf-8")


def _pip(environment: Environment, command: str, *arguments: str) -> None:
    options = (
        ["--disable-pip-version-check", "--no-input", "--isolated"] if command == "check" else ["--disable-pip-version-check", "--no-input"]
    )
    _run(environment, [str(environment.python), "-I", "-m", "pip", *options, command, *arguments])


def _run(environment: Environment, command: Sequence[str]) -> None:
    done = subprocess.run(
        command, env=clean_variables(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        tail = "\n".join(done.stdout.strip().splitlines()[-15:])
        raise EnvironmentSetupError(
            f"Python {environment.interpreter.release}: `{' '.join(map(str, command[1:]))}` ended with {done.returncode}:\n{tail}",
            hint=f"read pip's lines above; {environment.root} is made again when it is deleted",
        )
