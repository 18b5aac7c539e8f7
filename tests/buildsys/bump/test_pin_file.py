from __future__ import annotations

from pathlib import Path

import pytest

from buildsys.bump import pin_file
from buildsys.bump.pin_file import find_archive, parse_pin, with_archive, write_pin
from buildsys.errors import BumpError, ConfigurationError
from buildsys.project import PIN, Pin, SourceArchive
from buildsys.pypi import PackageFile

COMMIT = "1" * 40
ARCHIVE = SourceArchive(project="demo-pkg", filename="demo_pkg-1.0.tar.gz", sha256="f00", git_directory=".git/modules/vendor/llama.cpp")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "pin.toml"
    path.write_text(PIN.read_text(encoding="utf-8"), encoding="utf-8")
    return path


def read(path: Path) -> Pin:
    return parse_pin(path.read_text(encoding="utf-8"), str(path))


def test_values_are_changed_and_comments_stay(file: Path) -> None:
    before = file.read_text(encoding="utf-8").splitlines()
    wanted = Pin(commit=COMMIT, repository=read(file).repository, archive=ARCHIVE)
    write_pin(wanted, file)
    after = file.read_text(encoding="utf-8").splitlines()
    assert read(file) == wanted
    assert [line for line in before if line.startswith("#")] == [line for line in after if line.startswith("#")]
    assert len(before) == len(after)


def test_an_archive_goes_and_comes_back(file: Path) -> None:
    original = read(file)
    write_pin(Pin(commit=COMMIT, repository=original.repository), file)
    assert read(file).archive is None
    assert "[archive]" not in file.read_text(encoding="utf-8")
    write_pin(original, file)
    assert read(file) == original


def test_a_pin_that_is_right_is_left_alone(file: Path) -> None:
    write_pin(read(file), file)
    assert file.read_text(encoding="utf-8") == PIN.read_text(encoding="utf-8")


def test_an_archive_is_found_by_its_exact_version(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def locate(project: str, filename: str) -> PackageFile:
        asked.append((project, filename))
        return PackageFile(url="https://files.example.org/demo_pkg-1.0.tar.gz", sha256="f00")

    monkeypatch.setattr(pin_file, "locate", locate)
    assert find_archive("demo-pkg==1.0") == ARCHIVE
    assert asked == [("demo-pkg", "demo_pkg-1.0.tar.gz")]


def test_an_archive_without_a_stated_hash_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pin_file, "locate", lambda *_: PackageFile(url="https://files.example.org/demo_pkg-1.0.tar.gz"))
    with pytest.raises(BumpError, match="no hash"):
        find_archive("demo-pkg==1.0")


@pytest.mark.parametrize("requirement", ["demo-pkg", "demo-pkg>=1", "demo pkg==1", "demo-pkg==1,==2"])
def test_a_vague_archive_is_refused(requirement: str) -> None:
    with pytest.raises(BumpError, match="NAME==VERSION"):
        find_archive(requirement)


def test_a_short_commit_is_refused() -> None:
    with pytest.raises(BumpError, match="40-digit") as caught:
        with_archive("4df29be4f", "https://example.org/llama.cpp.git", "")
    assert "rev-parse" in caught.value.hint


def test_a_pin_from_elsewhere_is_named_by_its_origin() -> None:
    with pytest.raises(ConfigurationError, match=r"HEAD:buildsys/pin\.toml"):
        parse_pin("commit = 3", "HEAD:buildsys/pin.toml")
