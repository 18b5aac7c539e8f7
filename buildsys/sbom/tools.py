"""What a native output was made with: CMake's `build-tools.json` beside it, and the toolchain's own packages."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from packaging.requirements import Requirement

from buildsys import toolchains
from buildsys.errors import SbomError

FILE_NAME = "build-tools.json"


class Compiler(msgspec.Struct, frozen=True, kw_only=True):
    """A compiler as CMake knows it: `Clang`, `GNU`, `NVIDIA`, …, and its version."""

    id: str
    version: str


@dataclass(frozen=True, kw_only=True)
class BuildTools:
    """The tools of one build.

    Attributes:
        toolchain: its name in `toolchains.toml`.
        packages: name → version of what the toolchain has from the package index.
        compilers: CMake's name of the language → the compiler.
        others: further programs by name (cmake, ninja, …) → version.
    """

    toolchain: str
    packages: dict[str, str] = field(default_factory=dict)
    compilers: dict[str, Compiler] = field(default_factory=dict)
    others: dict[str, str] = field(default_factory=dict)

    def compiler_version(self, language: str) -> str | None:
        """Version of the compiler for `language`, None where there was none."""
        compiler = self.compilers.get(language)
        return compiler.version if compiler else None


def read_build_tools(native: Path) -> BuildTools:
    """What `native`, the output of the compile stage, was made with.

    Raises:
        SbomError: it doesn't say, or names an unknown toolchain.
    """
    path = native / FILE_NAME
    hint = "compile the row anew: the native output comes from another build system"
    try:
        stated = msgspec.json.decode(path.read_bytes(), type=dict[str, str | dict[str, Compiler]])
    except FileNotFoundError:
        raise SbomError(f"{path} does not exist, so nothing says what {native} was made with", hint=hint) from None
    except msgspec.DecodeError as error:
        raise SbomError(f"{path}: {error}", hint=hint) from error
    texts = {name: value for name, value in stated.items() if isinstance(value, str)}
    compilers = stated.get("compilers", {})
    name = texts.pop("toolchain", "")
    if name not in toolchains.listed():
        raise SbomError(f"{path} names the toolchain {name!r}, which buildsys/toolchains.toml doesn't have", hint=hint)
    return BuildTools(
        toolchain=name,
        packages=packages_of(name),
        compilers=compilers if isinstance(compilers, dict) else {},
        others=dict(sorted(texts.items())),
    )


def packages_of(toolchain: str) -> dict[str, str]:
    """Name → version of what the toolchain has from the package index, the target's packages included."""
    found = toolchains.listed()[toolchain]
    stated = [*found.requirements, *(found.target_packages.requirements if found.target_packages else ())]
    requirements = [Requirement(text) for text in stated]
    return {requirement.name: next(iter(requirement.specifier)).version for requirement in requirements}
