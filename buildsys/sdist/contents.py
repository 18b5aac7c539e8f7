"""What must hold of a source distribution as a file: `policy.toml`, and agreement with what is under version control."""

from __future__ import annotations

import fnmatch
import subprocess
import tarfile
from collections.abc import Iterator
from email.parser import BytesParser
from functools import cache
from pathlib import Path

import msgspec

from buildsys.errors import SdistError
from buildsys.project import ROOT, package_version
from buildsys.tables import load_toml

POLICY_FILE = Path(__file__).with_name("policy.toml")
MEGABYTE = 1_000_000


class SdistPolicy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of `policy.toml`."""

    max_megabytes: float
    required: tuple[str, ...]
    forbidden: tuple[str, ...]


@cache
def policy() -> SdistPolicy:
    """The project's policy."""
    return load_toml(POLICY_FILE, SdistPolicy)


def check(sdist: Path, *, root: Path = ROOT) -> int:
    """Check `sdist`; the number of its files is returned. `root` is the clone that it was made from.

    Raises:
        SdistError: the message lists everything that is wrong.
    """
    try:
        with tarfile.open(sdist) as archive:
            members = archive.getmembers()
            folder = sdist.name.removesuffix(".tar.gz")
            findings = [*_entries(folder, members), *_metadata(archive, folder), *_size(sdist)]
    except (tarfile.TarError, EOFError, OSError) as error:
        raise SdistError(f"{sdist} cannot be read: {error}", hint="make it again: python -m buildsys sdist") from error
    names = {member.name.removeprefix(f"{folder}/") for member in members if member.isfile()}
    findings += [*_contents(names), *_uncontrolled(names, root)]
    if findings:
        listed = "".join(f"\n  - {finding}" for finding in findings)
        hint = "correct sdist.exclude in pyproject.toml, or buildsys/sdist/policy.toml"
        raise SdistError(f"{sdist.name} is not as it should be:{listed}", hint=hint)
    return len(names)


def _entries(folder: str, members: list[tarfile.TarInfo]) -> Iterator[str]:
    for member in members:
        if not (member.isfile() or member.isdir()):
            yield f"{member.name} is a link or a device"
        if not member.name.startswith(f"{folder}/") or ".." in member.name.split("/"):
            yield f"{member.name} lies outside of {folder}"


def _metadata(archive: tarfile.TarFile, folder: str) -> Iterator[str]:
    try:
        stream = archive.extractfile(f"{folder}/PKG-INFO")
    except KeyError:
        return  # which is found missing
    headers = BytesParser().parsebytes(stream.read() if stream else b"")
    for name, value in (("Name", "llama_cpp_python"), ("Version", package_version())):
        if headers[name] != value:
            yield f"PKG-INFO says {name}: {headers[name]}, not {value}"
    if not headers.get_all("Requires-Dist"):
        yield "PKG-INFO states no requirements"


def _size(sdist: Path) -> Iterator[str]:
    size = sdist.stat().st_size / MEGABYTE
    if size > policy().max_megabytes:
        yield f"{size:.2f} MB is more than {policy().max_megabytes:g} MB"


def _contents(names: set[str]) -> Iterator[str]:
    yield from (f"{name} is missing" for name in policy().required if name not in names)
    for name in sorted(names):
        pattern = next((pattern for pattern in policy().forbidden if fnmatch.fnmatchcase(name, pattern)), None)
        if pattern is not None:
            yield f"{name} has no place in it ({pattern})"


def _uncontrolled(names: set[str], root: Path) -> Iterator[str]:
    """Files of the working tree that no clone would have; nothing is known of them outside of a clone."""
    if not (root / ".git").exists():
        return
    known = {"PKG-INFO"}
    for repository in (root, root / "vendor" / "llama.cpp"):
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=repository, check=True, capture_output=True, text=True).stdout
        prefix = "" if repository == root else "vendor/llama.cpp/"
        known.update(f"{prefix}{name}" for name in listed.split("\0") if name)
    yield from (f"{name} is not under version control" for name in sorted(names - known))
