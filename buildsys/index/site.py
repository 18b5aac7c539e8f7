"""A whole site: what lies in which folder, and writing it in one move."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from buildsys.download import sha256_of
from buildsys.errors import ConfigurationError
from buildsys.index.distribution import PROJECT, Distribution, FileRefusedError
from buildsys.index.entries import ApiVersion, FileEntry, ProjectList, ProjectName, page_of
from buildsys.index.home import GENERATOR, home_page
from buildsys.index.pages import project_list_page, project_page
from buildsys.matrix import BuildRow


@dataclass(frozen=True, kw_only=True)
class Site:
    """Everything that a site is made from.

    Attributes:
        folders: entries by folder name, in the order in which people are shown them.
        address: where the site will be served, for the command lines on its page.
        contents: by file name, what to serve beside the pages: a file to copy, or the bytes themselves.
    """

    folders: Mapping[str, Sequence[FileEntry]]
    rows: Sequence[BuildRow]
    address: str
    contents: Mapping[str, Path | bytes] = field(default_factory=dict)


def contents_of(distributions: Sequence[Distribution]) -> dict[str, Path | bytes]:
    """The files of new distributions, and their core metadata as `<wheel>.metadata`."""
    found: dict[str, Path | bytes] = {}
    for distribution in distributions:
        found[distribution.filename] = distribution.path
        if distribution.metadata is not None:
            found[f"{distribution.filename}.metadata"] = distribution.metadata
    return found


def contents_beside(site: Path, folders: Mapping[str, Sequence[FileEntry]]) -> dict[str, Path | bytes]:
    """What a written site serves beside its pages."""
    found: dict[str, Path | bytes] = {}
    for name, entries in folders.items():
        for entry in entries:
            if entry.beside:
                found |= {each: site / name / PROJECT / each for each in (entry.filename, f"{entry.filename}.metadata")}
    return found


def write_metadata(distributions: Sequence[Distribution], folder: Path) -> None:
    """Write every wheel's core metadata, to be uploaded beside the wheel."""
    folder.mkdir(parents=True, exist_ok=True)
    for filename, content in contents_of(distributions).items():
        if isinstance(content, bytes):
            (folder / filename).write_bytes(content)


def write_site(site: Site, out: Path) -> None:
    """Write the site to `out`, replacing a site that is there; `out` changes only when all of it was written.

    Raises:
        ConfigurationError: `out` is a folder of something else.
        FileRefusedError: a file that a page states is gone, or is another one by now.
    """
    if out.exists() and not is_site(out):
        raise ConfigurationError(
            f"{out} is there already, and is no index that this command wrote", hint="name another folder, or remove it"
        )
    staging = out.with_name(f"{out.name}.part")
    shutil.rmtree(staging, ignore_errors=True)
    for name, entries in site.folders.items():
        _write_pages(staging / name, name, entries)
        for entry in entries:
            if entry.beside:
                _copy(entry, site.contents, staging / name / PROJECT)
    (staging / "index.html").write_text(home_page(site.folders, site.rows, site.address), encoding="utf-8", newline="\n")
    if out.exists():
        shutil.rmtree(out)
    staging.rename(out)


def is_site(folder: Path) -> bool:
    """Whether `folder` is empty, or holds an index that this program wrote."""
    page = folder / "index.html"
    if page.is_file():
        return f'name="generator" content="{GENERATOR}"' in page.read_text(encoding="utf-8", errors="replace")
    return folder.is_dir() and not any(folder.iterdir())


def _write_pages(folder: Path, name: str, entries: Sequence[FileEntry]) -> None:
    page = page_of(entries)
    projects = ProjectList(meta=ApiVersion(), projects=[ProjectName(name=PROJECT)])
    (folder / PROJECT).mkdir(parents=True)
    written = ((folder, project_list_page(name, projects), projects), (folder / PROJECT, project_page(name, page), page))
    for path, text, data in written:
        (path / "index.html").write_text(text, encoding="utf-8", newline="\n")
        (path / "index.json").write_bytes(msgspec.json.format(msgspec.json.encode(data), indent=1) + b"\n")


def _copy(entry: FileEntry, contents: Mapping[str, Path | bytes], target: Path) -> None:
    wanted = {entry.filename: entry.sha256}
    if isinstance(entry.core_metadata, dict):
        wanted[f"{entry.filename}.metadata"] = entry.core_metadata["sha256"]
    for filename, sha256 in wanted.items():
        content = contents[filename]
        if isinstance(content, bytes):
            (target / filename).write_bytes(content)
            found = hashlib.sha256(content).hexdigest()
        elif content.is_file():
            shutil.copyfile(content, target / filename)
            found = sha256_of(target / filename)
        else:
            found = "nothing"
        if found != sha256:
            message = (
                f"{filename} has sha256 {sha256} on its page, and {content if isinstance(content, Path) else 'its wheel'} holds {found}"
            )
            raise FileRefusedError(message, hint="don't change files while the index is written")
