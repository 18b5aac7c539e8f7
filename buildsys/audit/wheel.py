"""The wheel under audit, opened once: its names, its files, its native images, and the matrix row it was built for."""

from __future__ import annotations

import re
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesParser
from pathlib import Path, PurePosixPath

from packaging.tags import Tag
from packaging.utils import parse_wheel_filename
from packaging.version import Version

from buildsys.audit import elf, macho, pe
from buildsys.audit.image import NativeImage
from buildsys.audit.policy import Policy, System
from buildsys.errors import WheelError
from buildsys.matrix import BuildRow
from buildsys.matrix.wheels import row_of_wheel

CORRUPT_ARCHIVE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)

_NATIVE_NAME = re.compile(r"\.(?:so(?:\.[\w.]+)?|dll|dylib|pyd|exe)$", re.IGNORECASE)
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
_READERS = {elf.MAGIC: elf.read_elf, pe.MAGIC: pe.read_pe, macho.MAGIC: macho.read_macho, macho.FAT_MAGIC: macho.read_macho}


@dataclass(frozen=True, kw_only=True)
class Wheel:
    """A wheel file as the checks see it; made by :func:`open_wheel`.

    Attributes:
        images: every native file that could be parsed.
        unreadable: every other file that is native by its name or first bytes, with the reason.
        row: the build that the file name says this is.
    """

    path: Path
    version: Version
    distribution: str
    tags: frozenset[Tag]
    row: BuildRow
    entries: tuple[zipfile.ZipInfo, ...]
    images: tuple[NativeImage, ...]
    unreadable: Mapping[str, str]
    archive: zipfile.ZipFile

    @property
    def names(self) -> tuple[str, ...]:
        """Paths of all files, folders left out, in the archive's order."""
        return tuple(entry.filename for entry in self.entries if not entry.is_dir())

    @property
    def dist_info(self) -> str:
        """The dist-info folder that the archive has, or the one that it should have."""
        found = sorted({name.split("/")[0] for name in self.names if name.split("/")[0].endswith(".dist-info")})
        return found[0] if found else f"{self.path.name.split('-py3-')[0]}.dist-info"

    @property
    def platforms(self) -> frozenset[str]:
        """Platform tags of the file name."""
        return frozenset(tag.platform for tag in self.tags)

    @property
    def machine(self) -> str:
        """The row's machine as :class:`NativeImage` spells it."""
        return _MACHINES.get(self.row.machine, self.row.machine)

    def system(self, policy: Policy) -> System:
        """The policy's table for this wheel's operating system."""
        if self.row.system not in policy.system:
            raise WheelError(
                f"{self.path.name}: the audit has no rules for {self.row.system}",
                hint=f"add a table [system.{self.row.system}] to buildsys/audit/policy.toml",
            )
        return policy.system[self.row.system]

    def read(self, name: str) -> bytes:
        """Content of the file `name`; `KeyError` if there is none."""
        return self.archive.read(name)

    def headers(self, name: str) -> Message:
        """A dist-info file of mail-like headers (METADATA, WHEEL)."""
        return BytesParser().parsebytes(self.read(f"{self.dist_info}/{name}"))


@contextmanager
def open_wheel(path: Path, rows: Sequence[BuildRow]) -> Iterator[Wheel]:
    """Open `path` for the checks.

    Raises:
        WheelError: the file is no zip archive, its name is no wheel's, or no row of the matrix makes such a wheel.
    """
    row = row_of_wheel(path, rows)
    name, version, _, tags = parse_wheel_filename(path.name)
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise WheelError(f"{path} cannot be read: {error}", hint="build the wheel anew") from error
    with archive:
        images, unreadable = _read_images(archive)
        yield Wheel(
            path=path,
            version=version,
            distribution=name,
            tags=tags,
            row=row,
            entries=tuple(archive.infolist()),
            images=images,
            unreadable=unreadable,
            archive=archive,
        )


def _read_images(archive: zipfile.ZipFile) -> tuple[tuple[NativeImage, ...], dict[str, str]]:
    images: list[NativeImage] = []
    unreadable: dict[str, str] = {}
    for entry in archive.infolist():
        if entry.is_dir() or stat.S_ISLNK(entry.external_attr >> 16):
            continue
        native_by_name = _NATIVE_NAME.search(PurePosixPath(entry.filename).name) is not None
        try:
            with archive.open(entry) as stream:
                head = stream.read(4)
                reader = next((read for magic, read in _READERS.items() if head.startswith(magic)), None)
                if reader is not None:
                    images.append(reader(entry.filename, head + stream.read()))
                elif native_by_name:
                    unreadable[entry.filename] = "is no ELF, PE or Mach-O file"
        except Exception as error:  # noqa: BLE001 - a damaged file can make a parser fail in any way
            unreadable[entry.filename] = f"cannot be read: {type(error).__name__}: {error}"
    return tuple(images), unreadable
