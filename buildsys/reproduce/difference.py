"""What differs between two archives that should be the same, member by member: a short answer, where diffoscope has a long one."""

from __future__ import annotations

import re
import tarfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_SHOWN = 24  # bytes of context on either side of a difference
_DATE = re.compile(rb"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d")
_PATH = re.compile(rb"[\w.+-]*[/\\][\w.+-]+[/\\]?")


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One difference: of `member`, or of the archives as a whole where that is empty."""

    member: str
    kind: str
    detail: str

    def __str__(self) -> str:
        return f"{self.member or 'archive'}: {self.kind}: {self.detail}"


@dataclass(frozen=True, kw_only=True)
class Member:
    """A file in an archive; `attributes` is everything that the archive notes beside content and date, by name."""

    name: str
    date: str
    attributes: dict[str, str]
    content: bytes


def differences(first: Path, second: Path) -> list[Difference]:
    """Everything that differs between two wheels, or two source distributions; empty exactly if their bytes are equal."""
    if first.read_bytes() == second.read_bytes():
        return []
    found = list(_differences(read_members(first), read_members(second)))
    return found or [Difference(member="", kind="packing", detail=_packing(first.read_bytes(), second.read_bytes()))]


def read_members(path: Path) -> list[Member]:
    """The files of a zip archive or of a compressed tar archive, in its order."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return [_zip_member(archive, entry) for entry in archive.infolist()]
    with tarfile.open(path) as tar:
        return [_tar_member(tar, entry) for entry in tar]


def _zip_member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Member:
    attributes = {
        "mode": oct(entry.external_attr >> 16),
        "system": str(entry.create_system),
        "method": str(entry.compress_type),
        "extra field": entry.extra.hex(),
    }
    return Member(
        name=entry.filename, date="-".join(f"{part:02}" for part in entry.date_time), attributes=attributes, content=archive.read(entry)
    )


def _tar_member(tar: tarfile.TarFile, entry: tarfile.TarInfo) -> Member:
    stream = tar.extractfile(entry) if entry.isfile() else None
    return Member(
        name=entry.name,
        date=time.strftime("%Y-%m-%d-%H-%M-%S", time.gmtime(entry.mtime)),
        attributes={
            "mode": oct(entry.mode),
            "owner": f"{entry.uid}:{entry.gid} {entry.uname}:{entry.gname}",
            "type": f"{entry.type!r} {entry.linkname}",
        },
        content=stream.read() if stream else b"",
    )


def _differences(first: list[Member], second: list[Member]) -> Iterator[Difference]:
    left, right = ({member.name: member for member in members} for members in (first, second))
    for name in sorted(left.keys() ^ right.keys()):
        yield Difference(member=name, kind="presence", detail=f"only in the {'first' if name in left else 'second'} archive")
    common = [member.name for member in first if member.name in right]
    if common != [member.name for member in second if member.name in left]:
        yield Difference(member="", kind="order", detail="the members come in another order")
    for name in common:
        yield from _of_member(left[name], right[name])


def _of_member(left: Member, right: Member) -> Iterator[Difference]:
    if left.date != right.date:
        yield Difference(member=left.name, kind="date", detail=f"{left.date} and {right.date}")
    for attribute, value in left.attributes.items():
        if value != right.attributes[attribute]:
            yield Difference(member=left.name, kind=attribute, detail=f"{value} and {right.attributes[attribute]}")
    if left.content != right.content:
        kind, detail = _of_content(left.content, right.content)
        yield Difference(member=left.name, kind=kind, detail=detail)


def _of_content(left: bytes, right: bytes) -> tuple[str, str]:
    """What kind of difference it looks like, and where it begins."""
    if sorted(left.splitlines()) == sorted(right.splitlines()):
        return "order", "the same lines, in another order"
    at = _first_difference(left, right)
    around = [data[max(0, at - _SHOWN) : at + _SHOWN] for data in (left, right)]
    if any(_touches(_DATE, text) for text in around):
        kind = "timestamp"
    elif any(_touches(_PATH, text) for text in around):
        kind = "path"
    else:
        kind = "content"
    sizes = "" if len(left) == len(right) else f", sizes {len(left)} and {len(right)}"
    return kind, f"from byte {at} on{sizes}: {_shown(around[0])} and {_shown(around[1])}"


def _first_difference(left: bytes, right: bytes) -> int:
    low, high = 0, min(len(left), len(right))
    while low < high:  # longest common beginning, by halving: comparing slices is quick where comparing bytes is not
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _touches(pattern: re.Pattern[bytes], text: bytes) -> bool:
    """Whether a match of `pattern` reaches the middle of `text`, where the difference is."""
    middle = min(_SHOWN, len(text) // 2)
    return any(match.start() <= middle <= match.end() for match in pattern.finditer(text))


def _shown(text: bytes) -> str:
    return repr(re.sub(r"[^\x20-\x7e]", "·", text.decode("latin-1")))


def _packing(first: bytes, second: bytes) -> str:
    at = _first_difference(first, second)
    return f"equal members, packed differently from byte {at} on: compressed by another zlib, perhaps"
