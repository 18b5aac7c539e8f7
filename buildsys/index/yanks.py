"""Releases that were withdrawn, with the reason: no installer takes one unless it is asked for by its exact version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from buildsys.errors import ConfigurationError
from buildsys.index.entries import FileEntry
from buildsys.tables import load_toml

YANKED = Path(__file__).with_name("yanked.toml")


class UnknownYankError(ConfigurationError):
    """A yank names no file of the index: a misspelt one would leave a withdrawn release on offer."""


class Yank(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is withdrawn, and why.

    `versions` is a version specifier. `==0.4.0` covers the wheels of all accelerators, `==0.4.0+cu131` one of them.
    With `files`, only those file names of it.
    """

    versions: str
    reason: str
    files: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        try:
            SpecifierSet(self.versions)
        except InvalidSpecifier as error:
            raise ValueError(str(error)) from error
        if not self.versions:
            raise ValueError("versions must not be empty: that would withdraw everything")
        if not self.reason.strip() or "\n" in self.reason:
            raise ValueError("reason must be one line that tells the user why")

    def covers(self, entry: FileEntry) -> bool:
        """Whether this yank withdraws the file."""
        chosen = SpecifierSet(self.versions).contains(entry.version, prereleases=True)
        return chosen and (not self.files or entry.filename in self.files)


class YankTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file."""

    yank: tuple[Yank, ...] = ()


def load_yanks(path: Path = YANKED) -> tuple[Yank, ...]:
    """The yanks that `path` states."""
    return load_toml(path, YankTable).yank


def with_yanks(folders: Mapping[str, Sequence[FileEntry]], yanks: Sequence[Yank], *, complete: bool) -> dict[str, list[FileEntry]]:
    """The folders with every withdrawn file marked by its first matching reason.

    Raises:
        UnknownYankError: the index is `complete`, and one of the yanks covers no file of it.
    """
    marked = {name: [_marked(entry, yanks) for entry in entries] for name, entries in folders.items()}
    everything = [entry for entries in folders.values() for entry in entries]
    idle = [yank for yank in yanks if not any(yank.covers(entry) for entry in everything)]
    if complete and idle:
        listed = ", ".join(yank.versions for yank in idle)
        raise UnknownYankError(f"no file of the index is covered by the yank of {listed}", hint="correct its versions or files")
    return marked


def _marked(entry: FileEntry, yanks: Sequence[Yank]) -> FileEntry:
    reason = next((yank.reason for yank in yanks if yank.covers(entry)), None)
    return entry if reason is None else msgspec.structs.replace(entry, yanked=reason)
