"""`buildsys/sbom.toml` as typed data, and the components of one wheel with their versions read from where they are stated."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec

from buildsys.errors import SbomError
from buildsys.matrix import BuildRow
from buildsys.project import ROOT, VENDOR, pin
from buildsys.sbom.tools import BuildTools
from buildsys.tables import load_toml

CATALOGUE_FILE = ROOT / "buildsys" / "sbom.toml"


class VersionSource(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a version stands: in a vendored file, or with a package, a compiler or another tool of the toolchain."""

    file: str = ""
    pattern: str = ""
    package: str = ""
    compiler: str = ""
    tool: str = ""

    def __post_init__(self) -> None:
        if sum(map(bool, (self.file, self.package, self.compiler, self.tool))) != 1 or bool(self.file) != bool(self.pattern):
            raise ValueError("a version has either file and pattern, or package, or compiler, or tool")
        if self.pattern and re.compile(self.pattern).groups < 1:
            raise ValueError(f"{self.pattern!r} must have a group")


class Component(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[[component]]`; every text in a tuple is a shell-style pattern.

    `source` is its folder in llama.cpp, empty where it is none; `unpublishable` says why a wheel with it must not be released.
    """

    name: str
    license: str
    purl: str
    libraries: tuple[str, ...]
    licence_files: tuple[str, ...]
    version: VersionSource | None = None
    source: str = ""
    unpublishable: str = ""
    systems: tuple[str, ...] = ("*",)
    accelerators: tuple[str, ...] = ("*",)
    toolchains: tuple[str, ...] = ("*",)


class Catalogue(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of `sbom.toml`."""

    component: tuple[Component, ...]


@dataclass(frozen=True, kw_only=True)
class BundledComponent:
    """A component that a wheel of the row has, its version read; None where its source states none."""

    name: str
    license: str
    purl: str
    version: str | None
    libraries: tuple[str, ...]
    licence_files: tuple[str, ...]

    def is_in(self, library: str) -> bool:
        """Whether the library of that bare name has this component in it."""
        return _matches(library, self.libraries)

    def owns(self, licence_file: str) -> bool:
        """Whether that file of dist-info/licenses is this component's."""
        return _matches(licence_file, self.licence_files)


@cache
def catalogue(path: Path = CATALOGUE_FILE) -> Catalogue:
    """What the file states."""
    return load_toml(path, Catalogue)


def components_of(row: BuildRow, tools: BuildTools, *, vendor: Path = VENDOR) -> tuple[BundledComponent, ...]:
    """The components of a wheel of `row` that was made with `tools`.

    Raises:
        SbomError: a version does not stand where `sbom.toml` says.
    """
    present = [component for component in catalogue().component if not component.source or (vendor / component.source).is_dir()]
    return tuple(_resolved(component, tools, vendor) for component in present if _applies(component, row, tools))


def unpublishable() -> dict[str, str]:
    """The components that no released wheel may have, by name, with the reason."""
    return {component.name: component.unpublishable for component in catalogue().component if component.unpublishable}


def _applies(component: Component, row: BuildRow, tools: BuildTools) -> bool:
    source = component.version
    if source is not None and (source.package or source.tool) and not (tools.packages.get(source.package) or tools.others.get(source.tool)):
        return False
    return (
        _matches(row.system, component.systems)
        and _matches(row.accelerator, component.accelerators)
        and _matches(tools.toolchain, component.toolchains)
    )


def _resolved(component: Component, tools: BuildTools, vendor: Path) -> BundledComponent:
    version = None if component.version is None else _read(component.name, component.version, tools, vendor)
    return BundledComponent(
        name=component.name,
        license=component.license,
        purl=component.purl.format(version=version, commit=pin().commit),
        version=version,
        libraries=component.libraries,
        licence_files=component.licence_files,
    )


def _read(name: str, source: VersionSource, tools: BuildTools, vendor: Path) -> str:
    if source.file:
        path = vendor / source.file
        found = re.search(source.pattern, path.read_text(encoding="utf-8")) if path.is_file() else None
        if found is None:
            message = f"the version of {name} does not stand in {source.file} as {source.pattern!r}"
            raise SbomError(message, hint="look at the file, and correct the entry in buildsys/sbom.toml")
        return ".".join(filter(None, found.groups()))
    version = tools.packages.get(source.package) or tools.others.get(source.tool) or tools.compiler_version(source.compiler)
    if not version:
        message = f"the version of {name} is that of the compiler for {source.compiler}, of which build-tools.json says nothing"
        raise SbomError(message, hint="compile the row anew: the native output comes from an older build system")
    return version


def _matches(text: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns)
