"""Rows of `systems.toml`: the systems that wheels are proved on, and their selection by name."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Literal

import msgspec

from buildsys.conformance.results import Extent
from buildsys.dispatch.processors import Processor
from buildsys.errors import UnknownBuildError
from buildsys.project import ROOT
from buildsys.tables import load_toml

if TYPE_CHECKING:
    from collections.abc import Sequence

_DEBIAN_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


class UnknownSystemError(UnknownBuildError):
    """A system was asked for that the table doesn't hold."""


class PythonSource(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A CPython to compile for a system whose own is too old.

    `archive` is its place on the mirror; `packages` are what of the old system compiles it.
    """

    archive: str
    size: int
    sha256: str
    packages: tuple[str, ...]


class System(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One system.

    `glibc` and `python` are empty where they are allowed to change. `refused_python` is the version of its own Python that
    pip must refuse the wheel on. `extent` says how much of the suite runs; `patience` multiplies every limit of time in it.
    `processors` are emulated ones, each with the CPU variant due on it. A root is kept for `keep_days`, 0 for ever. `mirror` is
    for a suite that has moved to the archive of old ones.
    """

    name: str
    suite: str
    machine: Literal["x86_64", "aarch64"]
    packages: tuple[str, ...]
    glibc: str = ""
    python: str = ""
    python_source: PythonSource | None = None
    refused_python: str = ""
    extent: Extent = "short"
    patience: int = 1
    processors: tuple[Processor, ...] = ()
    keep_days: int = 0
    mirror: str = ""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", self.name):
            raise ValueError(f"name {self.name!r} must be lower-case letters, digits, dots and hyphens")
        if self.python_source and not self.python:
            raise ValueError(f"{self.name}: a compiled Python needs its version stated as `python`")
        if self.patience < 1 or self.keep_days < 0:
            raise ValueError(f"{self.name}: patience is at least 1, keep_days at least 0")

    @property
    def debian_architecture(self) -> str:
        """The machine as Debian calls it."""
        return _DEBIAN_ARCHITECTURES[self.machine]

    @property
    def interpreter(self) -> str:
        """The Python to prove the wheel with, by its path inside."""
        return f"{PYTHON_PREFIX}/bin/python3" if self.python_source else "/usr/bin/python3"


class Systems(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file; `mirror` is where Debian's packages come from unless the user names another."""

    mirror: str
    system: tuple[System, ...]

    def __post_init__(self) -> None:
        names = [system.name for system in self.system]
        if len(set(names)) != len(names):
            raise ValueError("two systems share a name")


# Where a compiled Python lies inside the root.
PYTHON_PREFIX = "/opt/python"


@cache
def table() -> Systems:
    """The table, in the order of the file."""
    return load_toml(ROOT / "buildsys" / "systems.toml", Systems)


def select(names: Sequence[str]) -> tuple[System, ...]:
    """The systems named, in the table's order; all without names."""
    known = [system.name for system in table().system]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UnknownSystemError(f"no system is called {', '.join(unknown)}", hint=f"choose from: {', '.join(known)}")
    return tuple(system for system in table().system if not names or system.name in names)
