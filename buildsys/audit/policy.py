"""The audit's policy as typed, validated data: `policy.toml`, which says per system what a wheel may hold and need.

What differs from build to build (CPU variants, newest platform tag, size) stands in the build matrix.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import msgspec

from buildsys.project import VENDOR
from buildsys.tables import load_toml

POLICY_FILE = Path(__file__).with_name("policy.toml")


class Contents(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which files a wheel consists of; `abi_data` lies beside the libraries; `forbidden_*` are shell-style patterns.

    `requirements` are the packages that every wheel requires, whatever it is built for.
    """

    distribution: str
    package: str
    requirements: tuple[str, ...]
    library_folder: str
    abi_data: str
    required: tuple[str, ...]
    forbidden_files: tuple[str, ...]
    forbidden_folders: tuple[str, ...]


class System(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One operating system's library names; `{}` in `naming` is a library's bare name.

    `plugin_naming` is for those that are opened by path, the CPU variants among them, where they are spelt otherwise;
    `plugins` are further ones, and `accelerators` those that only wheels of an accelerator have.
    `openmp` lists the runtimes of which a wheel bundles one; `system_libraries` are shell-style patterns of what the
    system itself provides.
    """

    naming: str
    libraries: tuple[str, ...]
    plugin_naming: str = ""
    plugins: tuple[str, ...] = ()
    accelerators: dict[str, tuple[str, ...]] = {}
    cpu_variant: str
    openmp: tuple[str, ...]
    system_libraries: tuple[str, ...]

    def __post_init__(self) -> None:
        if any(text.count("{}") != 1 for text in (self.naming, self.plugin_naming or "{}", self.cpu_variant)):
            raise ValueError("naming, plugin_naming and cpu_variant must hold {} once")


class OpenMP(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Patterns of every OpenMP runtime's file name, whoever made it."""

    runtimes: tuple[str, ...]


class Provider(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A package that brings libraries, given as shell-style patterns, to the user."""

    package: str
    libraries: tuple[str, ...]


class Cuda(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`plugins` are the only libraries that may need CUDA; group 1 of a `runtime` pattern is the major version."""

    plugins: tuple[str, ...]
    runtime: tuple[str, ...]
    driver: tuple[str, ...]
    provider: tuple[Provider, ...]

    def __post_init__(self) -> None:
        _require_patterns(self.runtime, groups=1)


class Bindings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the generated bindings lie, what declares a function there, and in which libraries its owner looks it up."""

    folder: str
    decorator: str
    owners: dict[str, tuple[str, ...]]


class AcceptedNeed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A library that one file may need all the same, because another project's binary does, and a Python has it."""

    file: str
    library: str
    reason: str


class Foreign(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Patterns of libraries that come from the builder's system and have no place in a wheel or in its needs."""

    libraries: tuple[str, ...]
    accepted: tuple[AcceptedNeed, ...] = ()

    def accepts(self, file: str, need: str) -> bool:
        """Whether the file of that name may need the library `need`."""
        return any(entry.file == file and matches(need, (entry.library,)) for entry in self.accepted)


class AcceptedPath(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A build path that may stay, because another project's binary carries it."""

    file: str
    pattern: str
    reason: str


class Stripped(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What of a library's debug information may stay."""

    accepted: tuple[AcceptedPath, ...] = ()

    def __post_init__(self) -> None:
        _require_patterns(entry.pattern for entry in self.accepted)

    def accepts(self, file: str, record: str) -> bool:
        """Whether `record` may stay in the library of that name."""
        return any(entry.file == file and re.search(entry.pattern, record) for entry in self.accepted)


class BuildPaths(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Regular expressions of paths of a building machine."""

    patterns: tuple[str, ...]
    accepted: tuple[AcceptedPath, ...] = ()

    def __post_init__(self) -> None:
        _require_patterns((*self.patterns, *(entry.pattern for entry in self.accepted)))


class PrivateRuntime(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Regular expressions of mangled names that belong to a library's own copy of the C++ runtime."""

    symbols: tuple[str, ...]

    def __post_init__(self) -> None:
        _require_patterns(self.symbols)


class Licence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A bundled component: the names that its licence file may have, and a regular expression it must contain.

    `source` is its folder in llama.cpp: a pin whose llama.cpp has no such folder needs no such licence.
    """

    component: str
    files: tuple[str, ...]
    text: str
    source: str = ""

    def __post_init__(self) -> None:
        _require_patterns((self.text,))


class InstructionSet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Instructions of some CPU variants only, on a machine whose instructions are words of 32 bits.

    `words` are pairs of a mask and the value that the masked word has.
    """

    name: str
    machine: str
    words: tuple[tuple[int, int], ...]
    variants: tuple[str, ...]

    def __post_init__(self) -> None:
        if any(value & ~mask for mask, value in self.words):
            raise ValueError(f"a value of {self.name} has bits outside of its mask")


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of `policy.toml`."""

    contents: Contents
    system: dict[str, System]
    openmp: OpenMP
    cuda: Cuda
    bindings: Bindings
    foreign: Foreign
    build_paths: BuildPaths
    stripped: Stripped
    private_runtime: PrivateRuntime
    instruction_set: tuple[InstructionSet, ...]
    licence: tuple[Licence, ...]


def _require_patterns(patterns: Iterable[str], *, groups: int = 0) -> None:
    for pattern in patterns:
        try:
            compiled = re.compile(pattern)
        except re.error as error:
            raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None
        if compiled.groups < groups:
            raise ValueError(f"{pattern!r} must have {groups} group")


@cache
def load_policy(path: Path = POLICY_FILE) -> Policy:
    """The policy that `path` states, as it is for the pinned llama.cpp."""
    return for_source(load_toml(path, Policy), VENDOR)


def for_source(policy: Policy, vendor: Path) -> Policy:
    """`policy` without the licences of what the llama.cpp in `vendor` does not bundle; all of them where nothing is checked out."""
    if not (vendor / "CMakeLists.txt").is_file():
        return policy
    due = tuple(licence for licence in policy.licence if not licence.source or (vendor / licence.source).is_dir())
    return msgspec.structs.replace(policy, licence=due)


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether any shell-style pattern fits `name`, without regard to case."""
    lowered = name.lower()
    return any(fnmatch.fnmatchcase(lowered, pattern.lower()) for pattern in patterns)
