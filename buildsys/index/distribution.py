"""One file of the distribution folder, verified: its name, its metadata and the matrix say the same."""

from __future__ import annotations

import re
import tarfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from email.parser import BytesParser
from pathlib import Path

from packaging.errors import ExceptionGroup
from packaging.metadata import Metadata
from packaging.tags import Tag, parse_tag
from packaging.utils import InvalidSdistFilename, canonicalize_name, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

from buildsys.download import sha256_of
from buildsys.errors import WheelError
from buildsys.matrix import BuildRow
from buildsys.matrix.wheels import row_of_wheel

PROJECT = canonicalize_name("llama_cpp_python")
DEFAULT_FOLDER = "cpu"
_SDIST = re.compile(r"llama[-_.]cpp[-_.]python-.*\.tar\.gz", re.IGNORECASE)
_UNREADABLE = (OSError, EOFError, KeyError, NotImplementedError, tarfile.TarError, zipfile.BadZipFile)


class FileRefusedError(WheelError):
    """A file must not be offered: it contradicts itself, the matrix, or another file."""


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """A file to offer, with what its own metadata says of it.

    Attributes:
        folder: the index folder that offers it.
        build: identifier of the row that makes such a wheel, or `sdist`.
        metadata: the core metadata, byte for byte; `None` for a source distribution.
    """

    path: Path
    version: Version
    folder: str
    build: str
    sha256: str
    size: int
    requires_python: str
    metadata: bytes | None

    @property
    def filename(self) -> str:
        """The file's name, which is also the last part of its URL."""
        return self.path.name


def folder_of(row: BuildRow) -> str:
    """Index folder of a row's wheels: one per CUDA release, and one for all others.

    Metal is not a choice to make: every Mac has the one wheel that fits it, so it is served by default.
    """
    return row.local_version or DEFAULT_FOLDER


def read_all(folder: Path, rows: Sequence[BuildRow]) -> list[Distribution]:
    """Every wheel, and every source distribution of the project, in `folder` and below it, by name.

    Raises:
        WheelError: one of them must not be offered, or two of them are the same build of the same version.
    """
    found_files = [path for path in folder.rglob("*") if path.suffix == ".whl" or _SDIST.match(path.name)]
    paths = sorted(found_files, key=lambda path: (path.name, path))
    seen: dict[tuple[Version, str], Path] = {}
    found = []
    for path in paths:
        distribution = read_wheel(path, rows) if path.suffix == ".whl" else read_sdist(path)
        other = seen.setdefault((distribution.version, distribution.build), path)
        if other != path:
            message = f"{path} and {other} are both {distribution.build} of version {distribution.version}"
            raise FileRefusedError(message, hint="remove the one that is not to be published")
        found.append(distribution)
    return found


def read_wheel(path: Path, rows: Sequence[BuildRow]) -> Distribution:
    """Read a wheel, insisting that file name, dist-info folder, METADATA, WHEEL and the matrix agree."""
    row = row_of_wheel(path, rows)
    _, version, _, tags = parse_wheel_filename(path.name)
    if (version.local or "") != row.local_version:
        raise _refused(path, f"its version is {version}, and wheels of {row.identifier} have the label {row.local_version or '(none)'}")
    if any(tag.platform.startswith("linux_") for tag in tags):
        raise _refused(path, "its platform tag is that of a wheel that was not repaired, which no installer takes from an index")
    dist_info = "-".join(path.name.split("-")[:2]) + ".dist-info"
    metadata, wheel_tags = _wheel_files(path, dist_info)
    if wheel_tags != tags:
        raise _refused(path, f"WHEEL says {_shown(wheel_tags)}, the file name {_shown(tags)}")
    return _distribution(path, metadata, version, folder=folder_of(row), build=row.identifier)


def read_sdist(path: Path) -> Distribution:
    """Read a source distribution, insisting that its name and PKG-INFO agree."""
    try:
        _, version = parse_sdist_filename(path.name)
        with tarfile.open(path) as archive:
            member = archive.extractfile(f"{path.name.removesuffix('.tar.gz')}/PKG-INFO")
            metadata = member.read() if member else b""
    except InvalidSdistFilename as error:
        raise FileRefusedError(f"{path}: {error}", hint="make it with `nox -s sdist`") from error
    except _UNREADABLE as error:
        raise _refused(path, f"it cannot be read ({error})") from error
    return _distribution(path, metadata, version, folder=DEFAULT_FOLDER, build="sdist")


def _wheel_files(path: Path, dist_info: str) -> tuple[bytes, frozenset[Tag]]:
    """METADATA, and the tags in WHEEL."""
    try:
        with zipfile.ZipFile(path) as archive:
            folders = sorted({name.split("/")[0] for name in archive.namelist() if name.split("/")[0].endswith(".dist-info")})
            if folders != [dist_info]:
                raise _refused(path, f"its dist-info folders are {', '.join(folders) or 'none'}, and its name demands {dist_info}")
            metadata = archive.read(f"{dist_info}/METADATA")
            wheel = BytesParser().parsebytes(archive.read(f"{dist_info}/WHEEL"))
    except _UNREADABLE as error:
        raise _refused(path, f"it cannot be read ({error})") from error
    return metadata, frozenset(tag for line in wheel.get_all("Tag", []) for tag in parse_tag(line))


def _distribution(path: Path, metadata: bytes, version: Version, *, folder: str, build: str) -> Distribution:
    """Compare the metadata with the file name, and take from it what an index states."""
    try:
        stated = Metadata.from_email(metadata)
    except ExceptionGroup as errors:
        raise _refused(path, "; ".join(map(str, errors.exceptions))) from errors
    named = canonicalize_name(path.name.split("-")[0])
    if (named, canonicalize_name(stated.name)) != (PROJECT, PROJECT):
        raise _refused(path, f"it is named for {named}, its metadata for {stated.name}, and this is the index of {PROJECT}")
    if stated.version != version:
        raise _refused(path, f"its metadata says version {stated.version}, its name {version}")
    return Distribution(
        path=path,
        version=version,
        folder=folder,
        build=build,
        sha256=sha256_of(path),
        size=path.stat().st_size,
        requires_python=str(stated.requires_python or ""),
        metadata=metadata if path.suffix == ".whl" else None,
    )


def _refused(path: Path, reason: str) -> FileRefusedError:
    return FileRefusedError(f"{path.name} is not offered: {reason}", hint="build the file anew; never rename or edit one")


def _shown(tags: frozenset[Tag]) -> str:
    return ", ".join(sorted(map(str, tags))) or "no tag"
