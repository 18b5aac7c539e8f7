"""The table of compilers, `buildsys/toolchains.toml`, as frozen types."""

from __future__ import annotations

from functools import cache

import msgspec

from buildsys.project import ROOT
from buildsys.tables import load_toml


class OpenMP(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The OpenMP runtime that belongs to the compiler.

    Of a compiler that is found on the system, a bare file name is asked for, and one with a folder is relative to the
    compiler's own. `runtime` is the file that a wheel bundles, where `library` is only an import library for it.
    """

    include: str
    library: str
    runtime: str = ""
    flags: str = "-fopenmp"


class TargetPackages(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Packages whose files end up on, or are linked for, the target: pip takes the wheels of `platform`, whatever this machine is.

    `{machine}` in `platform` is the target's.
    """

    platform: str
    requirements: tuple[str, ...]


class Toolchain(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A compiler: either installed from the package index, or found on the system.

    `rewrite` names a file beside this module: lines of sh that change a launcher's arguments before its program starts.
    `licences` are texts that a wheel has to carry for what this compiler adds to it, by the name that they get there.
    """

    summary: str
    openmp: OpenMP
    cmake: dict[str, str]
    requirements: tuple[str, ...] = ()
    target_packages: TargetPackages | None = None
    launchers: dict[str, tuple[str, ...]] = {}
    rewrite: str = ""
    licences: dict[str, str] = {}
    programs: dict[str, tuple[str, ...]] = {}
    install_hint: str = ""

    def __post_init__(self) -> None:
        if bool(self.requirements) == bool(self.programs):
            raise ValueError("a toolchain has either requirements or programs")
        if self.programs and (self.rewrite or self.licences):
            raise ValueError("rewrite and licences belong to a toolchain with requirements")


class Toolchains(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All toolchains by name."""

    toolchain: dict[str, Toolchain]


@cache
def listed() -> dict[str, Toolchain]:
    """Every toolchain of the table."""
    return load_toml(ROOT / "buildsys" / "toolchains.toml", Toolchains).toolchain
