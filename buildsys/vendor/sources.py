"""The places that llama.cpp's source can come from, each opened as a git remote and a reference in it."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from buildsys.errors import VendorError
from buildsys.project import Pin, SourceArchive, cache_dir
from buildsys.pypi import fetch_package_file

# Of the archive's git directory only these are taken: its configuration is another machine's.
_GIT_PARTS = ("HEAD", "objects", "packed-refs", "refs", "shallow")
_GIT_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"


@dataclass(frozen=True, kw_only=True)
class Source:
    """One place: what to call it, and how to get (remote, reference) from it."""

    description: str
    open: Callable[[], tuple[str, str]]


def in_order(pin: Pin) -> Iterator[Source]:
    """The sources, the origin first."""
    yield Source(description=f"git repository {pin.repository}", open=lambda: (pin.repository, pin.commit))
    if (archive := pin.archive) is not None:
        yield Source(
            description=f"source distribution {archive.filename} on the package index",
            open=lambda: (_repository_from_archive(archive).as_uri(), "HEAD"),
        )


def _repository_from_archive(archive: SourceArchive) -> Path:
    """Download the archive and unpack the git repository inside it; both are kept in the cache."""
    home = cache_dir() / "sources"
    repository = home / f"{archive.filename}.git"
    if repository.is_dir():
        return repository
    home.mkdir(parents=True, exist_ok=True)
    file = home / archive.filename
    fetch_package_file(archive.project, archive.filename, archive.sha256, file)
    staging = repository.with_suffix(".part")
    shutil.rmtree(staging, ignore_errors=True)
    _unpack_git_directory(file, archive.git_directory, staging)
    (staging / "config").write_text(_GIT_CONFIG, encoding="utf-8")
    staging.rename(repository)
    file.unlink()
    return repository


def _unpack_git_directory(file: Path, git_directory: str, target: Path) -> None:
    found = False
    with tarfile.open(file) as archive:
        for member in archive:
            # <name>-<version>/<git directory>/<part>…
            inside = member.name.partition("/")[2]
            if not inside.startswith(f"{git_directory}/"):
                continue
            relative = inside[len(git_directory) + 1 :]
            if relative.split("/")[0] not in _GIT_PARTS or not (member.isfile() or member.isdir()):
                continue
            found = True
            archive.extract(member.replace(name=relative, deep=False), target, filter="data")
    if not found:
        raise VendorError(f"{file.name} holds no {git_directory}")
