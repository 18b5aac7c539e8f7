"""What an index states of its files: the entries of a folder, as PEP 691 spells them, and how releases add up."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import msgspec
from msgspec import UNSET, UnsetType
from packaging.utils import parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

from buildsys.errors import ConfigurationError
from buildsys.index.distribution import PROJECT, Distribution, FileRefusedError

API_VERSION = "1.1"


class FileEntry(msgspec.Struct, frozen=True, kw_only=True, rename="kebab", omit_defaults=True):
    """One file of a project page. `url` is relative to the page where the file lies beside it."""

    filename: str
    url: str
    hashes: dict[str, str]
    size: int
    requires_python: str | UnsetType = UNSET
    upload_time: str | UnsetType = UNSET
    core_metadata: dict[str, str] | UnsetType = UNSET
    yanked: str | UnsetType = UNSET

    @property
    def version(self) -> Version:
        """The version that the file name states."""
        parse = parse_wheel_filename if self.filename.endswith(".whl") else parse_sdist_filename
        return parse(self.filename)[1]

    @property
    def sha256(self) -> str:
        """Hex digest of the file."""
        return self.hashes["sha256"]

    @property
    def beside(self) -> bool:
        """Whether the file lies in the folder of its page, not on another server."""
        return not urlsplit(self.url).scheme


class ApiVersion(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """The `meta` of a page."""

    api_version: str = API_VERSION


class ProjectPage(msgspec.Struct, frozen=True, kw_only=True):
    """A project's page as JSON."""

    meta: ApiVersion
    name: str
    versions: list[str]
    files: list[FileEntry]


class ProjectName(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a folder's list of projects."""

    name: str


class ProjectList(msgspec.Struct, frozen=True, kw_only=True):
    """A folder's root page as JSON: the projects that it has."""

    meta: ApiVersion
    projects: list[ProjectName]


def escaped(filename: str) -> str:
    """A file name as the last part of a URL. `+` is escaped: servers differ in what they take a bare one for."""
    return quote(filename, safe="")


def filename_in(url: str) -> str:
    """The file name that a URL ends in, as installers read it."""
    return unquote(urlsplit(url).path.rpartition("/")[2])


def entry_of(distribution: Distribution, *, files_url: str = "", states_metadata: bool = True, upload_time: str = "") -> FileEntry:
    """What the index says of a distribution.

    `files_url` is where the files lie if not beside their page; `{version}` in it stands for the public version, so that
    it can point into a release.
    """
    metadata = distribution.metadata if states_metadata else None
    return FileEntry(
        filename=distribution.filename,
        url=files_url.replace("{version}", escaped(distribution.version.public)) + escaped(distribution.filename),
        hashes={"sha256": distribution.sha256},
        size=distribution.size,
        requires_python=distribution.requires_python or UNSET,
        upload_time=upload_time or UNSET,
        core_metadata=UNSET if metadata is None else {"sha256": hashlib.sha256(metadata).hexdigest()},
    )


def page_of(entries: Iterable[FileEntry]) -> ProjectPage:
    """The page of a folder, oldest version first."""
    ordered = sorted(entries, key=lambda entry: (entry.version, entry.filename))
    versions = list(dict.fromkeys(str(entry.version) for entry in ordered))
    return ProjectPage(meta=ApiVersion(), name=PROJECT, versions=versions, files=ordered)


def read_previous(site: Path) -> dict[str, list[FileEntry]]:
    """The entries of a site that an earlier run wrote, by folder; the yanks are taken out, for they are stated anew.

    Raises:
        ConfigurationError: a page is not one that this program wrote, or the folder holds none.
    """
    found: dict[str, list[FileEntry]] = {}
    for path in sorted(site.glob(f"*/{PROJECT}/index.json")):
        try:
            page = msgspec.json.decode(path.read_bytes(), type=ProjectPage)
        except msgspec.MsgspecError as error:
            raise ConfigurationError(f"{path}: {error}", hint="name a folder that `python -m buildsys index` wrote") from error
        found[path.parts[-3]] = [msgspec.structs.replace(entry, yanked=UNSET) for entry in page.files]
    if not found:
        raise ConfigurationError(f"{site} holds no package index", hint="name a folder that `python -m buildsys index` wrote")
    return found


def merged(previous: Sequence[FileEntry], new: Sequence[FileEntry]) -> list[FileEntry]:
    """Both, each file once. What was published before stays as it was.

    Raises:
        FileRefusedError: a new file has the name of a published one and another content.
    """
    known = {entry.filename: entry for entry in previous}
    for entry in new:
        published = known.setdefault(entry.filename, entry)
        if published.sha256 != entry.sha256:
            message = f"{entry.filename} was published with sha256 {published.sha256}, and now has {entry.sha256}"
            raise FileRefusedError(message, hint="a published file never changes: give the new one another version")
    return list(known.values())
