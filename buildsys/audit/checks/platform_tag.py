"""The platform tag is earned: it is what the libraries' symbol versions allow, as auditwheel computes it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from buildsys.audit.policy import Policy
from buildsys.audit.report import Outcome
from buildsys.audit.wheel import Wheel
from buildsys.errors import CommandFailedError

_GLIBC = re.compile(r"manylinux_(\d+)_(\d+)_\w+")
_MACOS = re.compile(r"macosx_(\d+)_(\d+)_\w+")
_LEGACY = {"manylinux1": "manylinux_2_5", "manylinux2010": "manylinux_2_12", "manylinux2014": "manylinux_2_17"}


class _Shown(msgspec.Struct, frozen=True):
    """The part of `auditwheel show --json`, schema version 1, that is used here."""

    version: int
    overall_tag: str = ""
    sym_tag: str = ""
    error: str = ""


def platform_tag(wheel: Wheel, _policy: Policy) -> Outcome:
    """The file name's oldest platform is the one that is earned, and no newer than the matrix allows."""
    if wheel.row.system != "linux":
        findings = [f"platform tag {tag} is not {wheel.row.platform_tag}" for tag in wheel.platforms - {wheel.row.platform_tag}]
        return Outcome(detail=wheel.row.platform_tag, findings=(*findings, *_too_new(wheel)))
    earned = earned_tag(wheel.path, external=wheel.row.accelerator.startswith("cu"))
    return Outcome(detail=f"earned {earned}, at most {wheel.row.platform_tag}", findings=tuple(_compare(wheel, earned)))


def _too_new(wheel: Wheel) -> Iterator[str]:
    """Libraries that the macOS of the tag refuses."""
    if match := _MACOS.fullmatch(wheel.row.platform_tag):
        promised = (int(match[1]), int(match[2]))
        for image in wheel.images:
            if image.oldest_system[:2] > promised:
                yield f"{image.path} is for macOS {'.'.join(map(str, image.oldest_system[:2]))} and newer"


def _compare(wheel: Wheel, earned: str) -> Iterator[str]:
    floors = {tag: floor for tag in wheel.platforms if (floor := glibc_floor(tag)) is not None}
    for tag in sorted(wheel.platforms - floors.keys()):
        yield f"platform tag {tag} promises no glibc version; repair the wheel"
    earned_floor = glibc_floor(earned)
    newest = glibc_floor(wheel.row.platform_tag)
    if earned_floor is None:
        yield f"auditwheel grants only {earned}: a library or a symbol is outside of every manylinux policy"
    elif floors and min(floors.values()) != earned_floor:
        oldest = min(floors, key=lambda tag: floors[tag])
        claim = "older than" if floors[oldest] < earned_floor else "newer than"
        yield f"file name says {oldest}, {claim} the earned {earned}"
    if newest is not None and earned_floor is not None and earned_floor > newest:
        yield f"earned {earned} is newer than {wheel.row.platform_tag}, the newest that the build matrix allows"


def glibc_floor(tag: str) -> tuple[int, int] | None:
    """The glibc version that a manylinux tag promises to do with; None for any other tag."""
    for legacy, name in _LEGACY.items():
        tag = re.sub(f"^{legacy}_", f"{name}_", tag)
    match = _GLIBC.fullmatch(tag)
    return None if match is None else (int(match[1]), int(match[2]))


def earned_tag(wheel: Path, *, external: bool) -> str:
    """What auditwheel grants `wheel`; with `external`, by its symbols alone, since some needs are met by other wheels.

    The building machine's own libraries are kept out of the search, and the instruction sets of the CPU variants
    don't count: which one is loaded is decided at run time.
    """
    command = [sys.executable, "-m", "auditwheel", "show", "--json", "--disable-isa-ext-check", "--ldpaths", "", str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        shown = msgspec.json.decode(done.stdout, type=_Shown)
    except msgspec.DecodeError:
        raise CommandFailedError(
            f"auditwheel show failed: {done.stderr.strip()[-500:]}", hint="install auditwheel ≥ 6.8 on Linux"
        ) from None
    if shown.error:
        return f"nothing ({shown.error})"
    return shown.sym_tag if external else shown.overall_tag
