"""The canonical form of a wheel: its bytes follow from its files, and not from who packed them, when, where or with which tool."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import stat
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

COMPRESSION_LEVEL = 9
_UNIX = 3  # the system that zip attributes are written for, on every machine


def seal(wheel: Path, *, epoch: int, added: Mapping[str, bytes] | None = None) -> None:
    """Rewrite `wheel` in place with the files `added` (path → content), a RECORD that fits, and everything else as it follows.

    Files come sorted, those of dist-info last and RECORD at the very end. Each bears the date `epoch` and one mode:
    libraries are loaded, never executed, and a wheel has no programs. A file in `added` replaces one of the same name.
    The wheel is either rewritten whole or left alone.
    """
    files = {**_read(wheel), **(added or {})}
    record = next(name for name in files if name.endswith(".dist-info/RECORD"))
    del files[record]
    names = sorted(files, key=lambda name: (name.startswith(record.removesuffix("RECORD")), name))
    files[record] = _record(record, files, names)
    staging = wheel.with_name(f"{wheel.name}.part")
    with zipfile.ZipFile(staging, "w") as archive:
        for name in [*names, record]:
            entry = zipfile.ZipInfo(name, time.gmtime(epoch)[:6])
            entry.create_system = _UNIX
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, files[name], zipfile.ZIP_DEFLATED, COMPRESSION_LEVEL)
    staging.replace(wheel)


def _read(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist() if not entry.is_dir()}


def _record(path: str, files: Mapping[str, bytes], names: list[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([*_rows(files, names), (path, "", "")])
    return text.getvalue().encode()


def _rows(files: Mapping[str, bytes], names: list[str]) -> Iterator[tuple[str, str, str]]:
    for name in names:
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=").decode()
        yield name, f"sha256={digest}", str(len(files[name]))
