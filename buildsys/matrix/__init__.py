"""The build matrix: rows of `buildsys/matrix.toml` as typed values, and their selection by identifier."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from functools import cache
from typing import Literal

import msgspec

from buildsys.errors import UnknownBuildError
from buildsys.project import ROOT
from buildsys.tables import load_toml


class BuildRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One wheel: what it is for, and what it is made with."""

    identifier: str
    system: Literal["linux", "windows", "macos"]
    machine: Literal["x86_64", "aarch64", "amd64", "arm64"]
    accelerator: str
    toolchain: str
    target: str
    platform_tag: str
    max_megabytes: float
    cpu_variants: tuple[str, ...]
    cmake: dict[str, str] = {}

    def __post_init__(self) -> None:
        expected = f"{self.system}_{self.machine}-{self.accelerator}"
        if self.identifier != expected:
            raise ValueError(f"identifier {self.identifier!r} must be {expected!r}, as its fields say")
        if not re.fullmatch(r"cpu|metal|cu\d{3}", self.accelerator):
            raise ValueError(f"accelerator {self.accelerator!r} must be cpu, metal or cuNNN")
        if len(set(self.cpu_variants)) != len(self.cpu_variants):
            raise ValueError("cpu_variants lists one twice")

    @property
    def local_version(self) -> str:
        """The version's local label: the CUDA release, and nothing for all others."""
        return self.accelerator if self.accelerator.startswith("cu") else ""


class Matrix(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All rows, each identifier once."""

    build: tuple[BuildRow, ...]

    def __post_init__(self) -> None:
        identifiers = [row.identifier for row in self.build]
        if len(set(identifiers)) != len(identifiers):
            raise ValueError("two rows share an identifier")


@cache
def rows() -> tuple[BuildRow, ...]:
    """Every row, in the order of the file."""
    return load_toml(ROOT / "buildsys" / "matrix.toml", Matrix).build


def select(patterns: Sequence[str]) -> tuple[BuildRow, ...]:
    """The rows whose identifiers match any of the shell-style `patterns`; a pattern that matches none is an error."""
    chosen: dict[str, BuildRow] = {}
    for pattern in patterns:
        matches = [row for row in rows() if fnmatch.fnmatchcase(row.identifier, pattern)]
        if not matches:
            known = ", ".join(row.identifier for row in rows())
            raise UnknownBuildError(f"no build matches {pattern!r}", hint=f"choose from: {known}")
        chosen.update((row.identifier, row) for row in matches)
    return tuple(chosen.values())
