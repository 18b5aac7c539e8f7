"""The build matrix: `buildsys/matrix.toml` as typed rows, and their selection by identifier."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from functools import cache
from typing import Literal, cast

import msgspec

from buildsys.errors import UnknownBuildError
from buildsys.matrix import architectures
from buildsys.project import ROOT
from buildsys.tables import load_toml

_IDENTIFIER = re.compile(r"(?P<platform>(?P<system>linux|windows|macos)_(?P<machine>x86_64|aarch64|amd64|arm64))-(?P<accelerator>\w+)")

System = Literal["linux", "windows", "macos"]
Machine = Literal["x86_64", "aarch64", "amd64", "arm64"]


class TestEnvironment(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One machine of a pipeline that proves the finished wheel, with one Python (`X.Y`)."""

    __test__ = False

    runner: str
    python: str


class CudaBuild(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a CUDA wheel is compiled with and for.

    `architectures` are in CMake's spelling, `NN-real` for machine code and `NN-virtual` for PTX. `requires` are the
    packages that bring the CUDA libraries to the user.
    """

    toolkit: str
    architectures: tuple[str, ...]
    requires: tuple[str, ...]

    def __post_init__(self) -> None:
        if not re.fullmatch(r"\d+\.\d+", self.toolkit):
            raise ValueError(f"toolkit {self.toolkit!r} must be a CUDA release such as 13.1")
        architectures.check(self.architectures)


class LocalBuild(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a row is built and proved on any Linux x86_64 machine: options of `build`, and what stands for a proof there."""

    proof: Literal["suite", "suite-without-gpu", "emulated-suite", "wine-probe"]
    options: tuple[str, ...] = ()


class Platform(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all wheels of one system and machine share.

    `runner` and `container` are the pipeline's machine and image; `cibuildwheel` is its name for this build.
    """

    toolchain: str
    target: str
    platform_tag: str
    cpu_variants: tuple[str, ...]
    runner: str
    cibuildwheel: str
    tests: tuple[TestEnvironment, ...]
    container: str = ""


class BuildRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One wheel: what it is for, what it is made with, and where a pipeline makes and proves it.

    `local` is `None` where only the pipeline's own platform can build the row.
    """

    identifier: str
    toolchain: str
    target: str
    platform_tag: str
    max_megabytes: float
    cpu_variants: tuple[str, ...]
    cmake: dict[str, str] = {}
    cuda: CudaBuild | None = None
    runner: str = ""
    container: str = ""
    cibuildwheel: str = ""
    tests: tuple[TestEnvironment, ...] = ()
    local: LocalBuild | None = None

    def __post_init__(self) -> None:
        if not _IDENTIFIER.fullmatch(self.identifier):
            raise ValueError(f"identifier {self.identifier!r} must be SYSTEM_MACHINE-ACCELERATOR, such as linux_x86_64-cpu")
        if not re.fullmatch(r"cpu|metal|cu\d{3}", self.accelerator):
            raise ValueError(f"accelerator {self.accelerator!r} must be cpu, metal or cuNNN")
        stated = "cu" + self.cuda.toolkit.replace(".", "") if self.cuda else ""
        if stated != self.local_version:
            raise ValueError(f"{self.identifier}: its name says {self.accelerator}, its toolkit {stated or 'no CUDA'}")
        if len(set(self.cpu_variants)) != len(self.cpu_variants):
            raise ValueError("cpu_variants lists one twice")

    @property
    def system(self) -> System:
        """The operating system."""
        return cast("System", self._part("system"))

    @property
    def machine(self) -> Machine:
        """The processor's name, as the platform's own wheels spell it."""
        return cast("Machine", self._part("machine"))

    @property
    def accelerator(self) -> str:
        """`cpu`, `metal`, or `cuNNN` for a CUDA release."""
        return self._part("accelerator")

    @property
    def local_version(self) -> str:
        """The version's local label: the CUDA release, and nothing for all others."""
        return self.accelerator if self.accelerator.startswith("cu") else ""

    def _part(self, name: str) -> str:
        match = _IDENTIFIER.fullmatch(self.identifier)
        return match[name] if match else ""


class StatedBuild(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A `[[build]]` of the file: its own lines, the rest being its platform's."""

    identifier: str
    max_megabytes: float
    cmake: dict[str, str] = {}
    cuda: CudaBuild | None = None
    local: LocalBuild | None = None


class Matrix(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file: each identifier once, each on a platform that is stated."""

    platform: dict[str, Platform]
    build: tuple[StatedBuild, ...]

    def __post_init__(self) -> None:
        identifiers = [stated.identifier for stated in self.build]
        if len(set(identifiers)) != len(identifiers):
            raise ValueError("two rows share an identifier")
        strangers = [name for name in identifiers if name.split("-")[0] not in self.platform]
        if strangers:
            raise ValueError(f"no [platform] for {', '.join(strangers)}")
        self.rows()  # each one is checked as it is made

    def rows(self) -> tuple[BuildRow, ...]:
        """The builds, completed by their platforms, in the order of the file."""
        return tuple(
            BuildRow(**msgspec.structs.asdict(self.platform[stated.identifier.split("-")[0]]), **msgspec.structs.asdict(stated))
            for stated in self.build
        )


@cache
def rows() -> tuple[BuildRow, ...]:
    """Every row, in the order of the file."""
    return load_toml(ROOT / "buildsys" / "matrix.toml", Matrix).rows()


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


def select_one(identifier: str) -> BuildRow:
    """The row of exactly this identifier."""
    chosen = select([identifier])
    if len(chosen) != 1:
        raise UnknownBuildError(
            f"{identifier!r} matches {len(chosen)} builds", hint=f"name one: {', '.join(row.identifier for row in chosen)}"
        )
    return chosen[0]
