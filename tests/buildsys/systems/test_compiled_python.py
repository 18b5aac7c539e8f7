"""Compiling a Python for an old system: pinned source, in the old system, installed where the root keeps it."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from buildsys.errors import DownloadError
from buildsys.systems import compiled_python
from buildsys.systems.chamber import Chamber
from buildsys.systems.compiled_python import build
from buildsys.systems.table import PythonSource


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    folder = tmp_path / "mirror"
    folder.mkdir()
    with tarfile.open(folder / "python_3.11.2.orig.tar.gz", "w:gz") as archive:
        entry = tarfile.TarInfo("Python-3.11.2/configure")
        entry.size = 2
        archive.addfile(entry, io.BytesIO(b"#!"))
    return folder


def source_of(mirror: Path) -> PythonSource:
    content = (mirror / "python_3.11.2.orig.tar.gz").read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    return PythonSource(archive="python_3.11.2.orig.tar.gz", size=len(content), sha256=sha256, packages=("gcc",))


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    ran: list[list[str]] = []
    monkeypatch.setattr(compiled_python, "run_logged", lambda command, **_: ran.append(command))
    monkeypatch.setattr(compiled_python, "cache_dir", lambda: tmp_path / "cache")
    return ran


def test_it_is_configured_made_and_installed_in_the_old_system(mirror: Path, commands: list[list[str]], tmp_path: Path) -> None:
    work = tmp_path / "work"
    compilers = Chamber(program="bwrap", root=tmp_path / "compilers")
    where = build(source_of(mirror), compilers, work, mirror=mirror.as_uri(), log=tmp_path / "log", label="old")
    assert where == work / "installed/opt/python"
    assert (work / "Python-3.11.2/configure").is_file()
    inside = [words[words.index("--") + 1 :] for words in commands]
    assert [words[0] for words in inside] == ["./configure", "make", "make"]
    assert "--prefix=/opt/python" in inside[0]
    assert inside[2][-2:] == ["install", "DESTDIR=/proof/work/installed"]
    for words in commands:
        assert words[words.index("--bind") + 1] == str(tmp_path / "compilers")
        assert words[words.index("--chdir") + 1] == "/proof/work/Python-3.11.2"


def test_another_source_than_the_pinned_one_is_refused(mirror: Path, commands: list[list[str]], tmp_path: Path) -> None:
    source = source_of(mirror)
    with (mirror / source.archive).open("r+b") as stream:
        stream.write(b"\0\0\0\0")
    with pytest.raises(DownloadError):
        build(source, Chamber(program="bwrap", root=tmp_path), tmp_path / "work", mirror=mirror.as_uri(), log=tmp_path / "log", label="old")
    assert commands == []
