"""Debian packages unpacked into a folder, with an apt configuration of our own: nothing of the system is changed.

The suite is verified by the signatures that the system trusts. Any system with apt can do it, whatever its release.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import msgspec

from buildsys.errors import ToolkitError
from buildsys.process import run_logged

MIRROR = "http://deb.debian.org/debian"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
PROGRAMS = ("apt-get", "dpkg")
INVENTORY = "packages.txt"
_EXTRACT = 'for file; do dpkg --extract "$file" "$0"; done'


class Archive(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Packages of one suite. Dependencies are not followed: what is needed is listed."""

    suite: str
    components: tuple[str, ...]
    packages: tuple[str, ...]


def obstacle() -> str:
    """Why packages cannot be unpacked on this machine; empty if they can."""
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        return f"needs {' and '.join(missing)}, of a Debian-like system"
    return "" if KEYRING.is_file() else f"needs {KEYRING} (package debian-archive-keyring)"


def unpack(archive: Archive, root: Path, *, log: Path, label: str) -> None:
    """Download the packages and unpack them into `root`; links inside it become relative, and `packages.txt` lists what came.

    Raises:
        CommandFailedError: apt or dpkg failed.
        ToolkitError: apt left a package out.
    """
    work = root.with_name(f"{root.name}.apt")
    shutil.rmtree(work, ignore_errors=True)
    (work / "lists" / "partial").mkdir(parents=True)
    (work / "cache" / "archives" / "partial").mkdir(parents=True)
    (work / "status").touch()
    (work / "sources.list").write_text(
        f"deb [signed-by={KEYRING}] {MIRROR} {archive.suite} {' '.join(archive.components)}\n", encoding="utf-8"
    )
    (work / "apt.conf").write_text(_configuration(work), encoding="utf-8")
    environment = {"APT_CONFIG": str(work / "apt.conf")}
    run_logged(["apt-get", "--quiet", "update"], log=log, label=f"{label}: reading {archive.suite}", env=environment)
    run_logged(["apt-get", "--quiet", "download", *archive.packages], log=log, label=f"{label}: downloading", cwd=work, env=environment)
    files = sorted(work.glob("*.deb"))
    if len(files) != len(archive.packages):
        raise ToolkitError(f"apt-get delivered {len(files)} of {len(archive.packages)} packages of {archive.suite}", hint=f"read {log}")
    root.mkdir(parents=True, exist_ok=True)
    run_logged(["sh", "-ec", _EXTRACT, root, *files], log=log, label=f"{label}: unpacking")
    make_links_relative(root)
    (root / INVENTORY).write_text("".join(f"{file.stem}\n" for file in files), encoding="utf-8")
    shutil.rmtree(work)


def make_links_relative(root: Path) -> None:
    """Let links that mean a place on the system they were packaged for mean the same place under `root`."""
    for path in root.rglob("*"):
        if path.is_symlink() and (target := path.readlink()).is_absolute():
            path.unlink()
            path.symlink_to(os.path.relpath(root / target.relative_to("/"), path.parent))


def _configuration(work: Path) -> str:
    """Read after the system's own files, so that a proxy set there counts."""
    return f"""\
Dir::Etc::SourceList "{work}/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "{work}/lists";
Dir::State::Status "{work}/status";
Dir::Cache "{work}/cache";
APT::Architecture "amd64";
APT::Architectures {{ "amd64"; }};
APT::Sandbox::User "root";
Acquire::Languages "none";
"""
