"""Roots: made once, in a place of their own until they are complete, made anew when that is due; a mirror's fault is named as one."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from buildsys.errors import CommandFailedError
from buildsys.systems import root
from buildsys.systems.host import Host
from buildsys.systems.root import RootUnavailableError, reserved
from buildsys.systems.table import PythonSource, System

if TYPE_CHECKING:
    from collections.abc import Mapping

HOST = Host(debootstrap="/usr/sbin/debootstrap", bubblewrap="/usr/bin/bwrap", keyring=Path("/keys.gpg"))
OLD = System(name="old", suite="bullseye", machine="x86_64", packages=("python3",))
SOURCE = PythonSource(archive="pool/python.tar.gz", size=1, sha256="0", packages=("gcc", "make"))
MIRROR = "http://mirror/debian"


class Debootstrap:
    """Stands in for run_logged: fills the tree, or fails as a mirror does."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.environments: list[Mapping[str, str]] = []
        self.fails = False

    def __call__(self, command: list[str], *, log: Path, label: str, env: Mapping[str, str]) -> None:
        del label
        self.calls.append(command)
        self.environments.append(env)
        tree = Path(command[-2])
        for folder in ("var/cache/apt/archives", "var/lib/apt/lists", "usr"):
            (tree / folder).mkdir(parents=True)
        (tree / "var/cache/apt/archives/python3.deb").touch()
        log.touch()
        if self.fails:
            raise CommandFailedError("debootstrap failed: no route", hint=f"read the whole log: {log}")


@pytest.fixture
def debootstrap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Debootstrap:
    fake = Debootstrap()
    monkeypatch.setattr(root, "run_logged", fake)
    monkeypatch.setattr(root, "cache_dir", lambda: tmp_path)
    return fake


def test_a_root_is_made_once(debootstrap: Debootstrap) -> None:
    with reserved(OLD, HOST, mirror=MIRROR) as made:
        assert (made.tree / "proof").is_dir()
        assert list((made.tree / "var/cache/apt/archives").iterdir()) == []
        assert made.environments.is_dir()
    with reserved(OLD, HOST, mirror=MIRROR) as again:
        assert again == made
    assert len(debootstrap.calls) == 1


def test_debootstrap_verifies_and_leaves_no_mounts(debootstrap: Debootstrap) -> None:
    arm = msgspec.structs.replace(OLD, machine="aarch64", packages=("python3", "python3-venv"))
    with reserved(arm, HOST, mirror=MIRROR):
        pass
    (words,) = debootstrap.calls
    assert words[: len(root._APART)] == list(root._APART)
    assert {"--mount", "--pid", "--kill-child"} <= set(words)
    assert {"--arch=arm64", "--include=python3,python3-venv", "--keyring=/keys.gpg", "--force-check-gpg"} <= set(words)
    assert (words[-3], words[-1]) == ("bullseye", MIRROR)
    assert debootstrap.environments == [{"container": "lxc"}]


def test_another_content_or_mirror_is_another_root(debootstrap: Debootstrap) -> None:
    folders = set()
    for system, mirror in ((OLD, MIRROR), (OLD, "http://other"), (msgspec.structs.replace(OLD, packages=("python3", "gcc")), MIRROR)):
        with reserved(system, HOST, mirror=mirror) as made:
            folders.add(made.folder)
    assert len(folders) == len(debootstrap.calls) == 3


def test_what_changes_nothing_inside_keeps_the_root(debootstrap: Debootstrap) -> None:
    for system in (OLD, msgspec.structs.replace(OLD, patience=9, extent="whole", glibc="2.31")):
        with reserved(system, HOST, mirror=MIRROR):
            pass
    assert len(debootstrap.calls) == 1


def test_a_fresh_root_replaces_the_one_that_is_there(debootstrap: Debootstrap) -> None:
    with reserved(OLD, HOST, mirror=MIRROR) as made:
        (made.tree / "stale").touch()
    with reserved(OLD, HOST, mirror=MIRROR, fresh=True) as made:
        assert not (made.tree / "stale").exists()
    assert len(debootstrap.calls) == 2


def test_the_root_of_a_rolling_suite_grows_old(debootstrap: Debootstrap) -> None:
    rolling = msgspec.structs.replace(OLD, keep_days=14)
    with reserved(rolling, HOST, mirror=MIRROR) as made:
        pass
    for days, calls in ((13, 1), (15, 2)):
        then = time.time() - days * 86400
        os.utime(made.folder, (then, then))
        with reserved(rolling, HOST, mirror=MIRROR):
            pass
        assert len(debootstrap.calls) == calls


def test_a_failed_root_is_the_mirrors_fault_and_is_begun_anew(debootstrap: Debootstrap) -> None:
    debootstrap.fails = True
    with pytest.raises(RootUnavailableError, match="old: debootstrap failed: no route") as caught, reserved(OLD, HOST, mirror=MIRROR):
        pass
    assert "not of the wheel" in caught.value.hint
    assert "--mirror" in caught.value.hint
    debootstrap.fails = False
    with reserved(OLD, HOST, mirror=MIRROR) as made:
        assert made.tree.is_dir()


def test_python_is_compiled_in_a_second_root_that_is_gone_afterwards(debootstrap: Debootstrap, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(source: PythonSource, compilers: root.Chamber, work: Path, **_: object) -> Path:
        assert source == SOURCE
        assert (compilers.root / "proof").is_dir()
        (work / "installed/bin").mkdir(parents=True)
        (work / "installed/bin/python3").touch()
        return work / "installed"

    monkeypatch.setattr(root.compiled_python, "build", build)
    with reserved(msgspec.structs.replace(OLD, python="3.11", python_source=SOURCE), HOST, mirror=MIRROR) as made:
        assert (made.tree / "opt/python/bin/python3").is_file()
        assert sorted(path.name for path in made.folder.iterdir()) == ["environments", "root"]
    first, second = debootstrap.calls
    assert "--include=python3" in first
    assert "--include=gcc,make" in second
