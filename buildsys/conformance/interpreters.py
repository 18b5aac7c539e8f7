"""Finding the CPython interpreters that a wheel is proved on; creating environments is `environment`'s."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from buildsys.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SUPPORTED = ("3.10", "3.11", "3.12", "3.13", "3.14")

# Printed by a candidate: what it is, and whether it can make an environment (Debian ships ensurepip apart).
_DESCRIBE = """
import json, platform, struct, sys, sysconfig
try:
    import ensurepip, venv
    environments = True
except ImportError:
    environments = False
print(json.dumps({
    "version": "%d.%d" % sys.version_info[:2],
    "release": platform.python_version(),
    "path": getattr(sys, "_base_executable", "") or sys.executable,
    "suitable": environments and sys.implementation.name == "cpython" and struct.calcsize("P") == 8
        and not sysconfig.get_config_var("Py_GIL_DISABLED"),
}))
"""


class InterpreterNotFoundError(ConfigurationError):
    """A Python that was asked for by name isn't on this machine, or can't create environments."""


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """A CPython: `version` as "3.12", `release` as "3.12.1"."""

    version: str
    release: str
    path: Path

    @property
    def order(self) -> tuple[int, ...]:
        """Sorts 3.9 before 3.10."""
        return tuple(int(part) for part in self.version.split("."))


@cache
def describe(executable: str) -> Interpreter | None:
    """Run `executable` to see what it is; None when it doesn't run or can't host the suite."""
    try:
        answer = subprocess.run([executable, "-I", "-c", _DESCRIBE], capture_output=True, text=True, timeout=60, check=True)
        facts = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    if not facts["suitable"]:
        return None
    return Interpreter(version=facts["version"], release=facts["release"], path=Path(facts["path"]))


def find_interpreters(wanted: Sequence[str] | None = None) -> tuple[Interpreter, ...]:
    """One interpreter per version, oldest first.

    `wanted` names versions ("3.12") or paths; each must exist. Without it, all supported versions that
    this machine has are returned, the running one among them.
    """
    if wanted:
        found = {item.version: item for item in map(_require, wanted)}
    else:
        found = {version: item for version in SUPPORTED if (item := _first(version)) is not None}
    if not found:
        raise InterpreterNotFoundError(
            f"no Python of {', '.join(SUPPORTED)} can create environments here", hint="install one with its venv module"
        )
    return tuple(sorted(found.values(), key=lambda item: item.order))


def _require(name: str) -> Interpreter:
    is_path = os.sep in name or Path(name).is_file()
    found = describe(name) if is_path else _first(name)
    if found is None:
        where = "" if is_path else " on PATH, under pyenv, uv, /usr/bin or /opt/python"
        raise InterpreterNotFoundError(
            f"Python {name} was not found{where}, or lacks the venv module",
            hint=f"install it (for example `pyenv install {name}`), or name another with --python",
        )
    return found


def _first(version: str) -> Interpreter | None:
    for candidate in candidates(version):
        found = describe(candidate)
        if found is not None and found.version == version:
            return found
    return None


def candidates(version: str) -> Iterator[str]:
    """Paths at which Python `version` may lie, the most particular to this user first."""
    if "{}.{}".format(*sys.version_info[:2]) == version:
        yield str(getattr(sys, "_base_executable", "") or sys.executable)
    seen: set[str] = set()
    for path in _search(version):
        if path not in seen and os.access(path, os.X_OK):
            seen.add(path)
            yield path


def _search(version: str) -> Iterator[str]:
    name, home = f"python{version}", Path.home()
    tag = "cp" + version.replace(".", "")
    if on_path := shutil.which(name):
        yield on_path
    if sys.platform == "win32":
        yield from _windows_launcher(version)
        return
    pyenv = Path(os.environ.get("PYENV_ROOT") or home / ".pyenv") / "versions"
    managed = Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or home / ".local" / "share" / "uv" / "python")
    yield from _newest_first(pyenv.glob(f"{version}.*/bin/{name}"))
    yield from _newest_first(managed.glob(f"cpython-{version}*/bin/{name}"))
    for folder in ("/usr/local/bin", "/usr/bin"):
        yield f"{folder}/{name}"
    yield f"/opt/python/{tag}-{tag}/bin/python"
    yield f"/Library/Frameworks/Python.framework/Versions/{version}/bin/{name}"


def _newest_first(paths: Iterable[Path]) -> list[str]:
    def release(path: Path) -> tuple[int, ...]:
        return tuple(int(part) for part in path.parts[-3].removeprefix("cpython-").split("-")[0].split(".") if part.isdigit())

    return [str(path) for path in sorted(paths, key=release, reverse=True)]


def _windows_launcher(version: str) -> Iterator[str]:
    r"""Interpreters that the `py` launcher knows: lines like ` -V:3.12 *  C:\\...\\python.exe`."""
    try:
        listing = subprocess.run(["py", "-0p"], capture_output=True, text=True, timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return
    for line in listing.splitlines():
        label, _, rest = line.strip().partition(" ")
        if label.removeprefix("-V:").removeprefix("-").split("-")[0] == version:
            yield rest.strip().removeprefix("*").strip()
