"""Changed copies of a real wheel, with a RECORD that fits: for tests of what is noticed when a file is gone or damaged."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from .recipes import record_line

Change = Callable[[bytes], bytes | None]


def copy_wheel(wheel: Path, folder: Path, changes: Mapping[str, Change]) -> Path:
    """Copy `wheel` into `folder`, uncompressed; `changes` map a path inside it to what becomes of its content (None drops the file)."""
    target = folder / wheel.name
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(target, "w") as sink:
        missing = changes.keys() - set(source.namelist())
        if missing:
            raise KeyError(*missing)
        rows: list[str] = []
        for entry in source.infolist():
            if entry.filename.endswith(".dist-info/RECORD"):
                record = entry
                continue
            if entry.is_dir():
                continue  # no file, so no line of RECORD
            content = changes.get(entry.filename, bytes)(source.read(entry))
            if content is not None:
                sink.writestr(entry, content, zipfile.ZIP_STORED)
                rows.append(record_line(entry.filename, content))
        sink.writestr(record, "\n".join([*rows, f"{record.filename},,", ""]))
    return target
