"""Checks of the wheel as a zip archive: its RECORD, its entries, its size."""

from __future__ import annotations

import posixpath
import stat
from collections import Counter
from collections.abc import Iterator

from installer.records import InvalidRecordEntry, parse_record_file
from installer.sources import WheelFile

from buildsys.audit.policy import Policy
from buildsys.audit.report import Outcome
from buildsys.audit.wheel import Wheel

MEGABYTE = 1_000_000


def record(wheel: Wheel, _policy: Policy) -> Outcome:
    """RECORD lists every file once, with the hash and size it has, and nothing else."""
    findings: list[str] = []
    try:
        WheelFile(wheel.archive).validate_record()
    except WheelFile.validation_error as error:
        findings.extend(issue.replace(f"In {wheel.path}, ", "") for issue in getattr(error, "issues", [str(error)]))
    # installer walks the archive, so what only RECORD says is left to check.
    try:
        rows = [row[0] for row in parse_record_file(wheel.read(f"{wheel.dist_info}/RECORD").decode().splitlines())]
    except (KeyError, InvalidRecordEntry):
        rows = []
    present = set(wheel.names)
    for name, count in Counter(rows).items():
        if count > 1:
            findings.append(f"{name} stands {count} times in RECORD")
        if name not in present:
            findings.append(f"{name} stands in RECORD but not in the archive")
    return Outcome(detail=f"{len(rows)} files", findings=tuple(findings))


def archive(wheel: Wheel, _policy: Policy) -> Outcome:
    """The zip reads back; no name twice (on any file system), no link, no path out of the target folder."""
    return Outcome(detail=f"{len(wheel.entries)} entries", findings=tuple(_entries(wheel)))


def _entries(wheel: Wheel) -> Iterator[str]:
    damaged = wheel.archive.testzip()
    if damaged is not None:
        yield f"{damaged} is damaged: its checksum differs"
    for folded, count in Counter(name.casefold() for name in wheel.names).items():
        if count > 1:
            yield f"{folded} is there {count} times, by names that differ at most in case"
    for entry in wheel.entries:
        name = entry.filename
        if stat.S_ISLNK(entry.external_attr >> 16):
            yield f"{name} is a symbolic link"
        if posixpath.normpath(name) != name.rstrip("/") or name.startswith(("/", "..")) or set(name) & {"\\", ":"}:
            yield f"{name} is not a plain relative path"


def size(wheel: Wheel, _policy: Policy) -> Outcome:
    """The file is no larger than its row of the build matrix allows."""
    limit = wheel.row.max_megabytes
    actual = wheel.path.stat().st_size / MEGABYTE
    findings = (f"{actual:.2f} MB is more than {limit:g} MB",) if actual > limit else ()
    return Outcome(detail=f"{actual:.2f} of {limit:g} MB", findings=findings)
