from __future__ import annotations

import os
import stat
import zipfile
from pathlib import Path

import pytest
from installer.sources import WheelFile

from buildsys.reproduce.archive import seal

INFO = "demo-1.0.dist-info"
FILES = {
    "demo/b.so": b"b" * 500,
    "demo/a.py": b"a",
    f"{INFO}/WHEEL": b"Wheel-Version: 1.0\n",
    f"{INFO}/METADATA": b"Name: demo\n",
    f"{INFO}/RECORD": b"",
}
EPOCH = 1767225600  # 2026-01-01


def written(
    folder: Path, names: list[str], *, date: tuple[int, int, int, int, int, int] = (2020, 1, 1, 0, 0, 0), mode: int = 0o644
) -> Path:
    path = folder / "demo-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = (stat.S_IFREG | mode) << 16
            archive.writestr(entry, FILES[name], zipfile.ZIP_STORED if mode == 0o755 else zipfile.ZIP_DEFLATED)
    return path


def test_the_bytes_follow_from_the_files_alone(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    one = written(tmp_path, list(FILES))
    other = written(tmp_path / "other", list(reversed(FILES)), date=(2024, 5, 6, 7, 8, 10), mode=0o755)
    os.utime(other, (0, 0))
    assert one.read_bytes() != other.read_bytes()
    for wheel in (one, other):
        seal(wheel, epoch=EPOCH)
    assert one.read_bytes() == other.read_bytes()


def test_the_record_fits_and_comes_last_and_every_file_bears_the_date(tmp_path: Path) -> None:
    wheel = written(tmp_path, list(FILES))
    seal(wheel, epoch=EPOCH, added={f"{INFO}/sboms/demo.cdx.json": b"{}"})
    with zipfile.ZipFile(wheel) as archive:
        assert archive.namelist() == [
            "demo/a.py",
            "demo/b.so",
            f"{INFO}/METADATA",
            f"{INFO}/WHEEL",
            f"{INFO}/sboms/demo.cdx.json",
            f"{INFO}/RECORD",
        ]
        assert {entry.date_time for entry in archive.infolist()} == {(2026, 1, 1, 0, 0, 0)}
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_DEFLATED}
        WheelFile(archive).validate_record()
        assert archive.read("demo/b.so") == FILES["demo/b.so"]


def test_a_file_that_is_there_already_is_replaced(tmp_path: Path) -> None:
    wheel = written(tmp_path, list(FILES))
    for content in (b"old", b"new"):
        seal(wheel, epoch=EPOCH, added={"demo/extra": content})
    with zipfile.ZipFile(wheel) as archive:
        assert archive.namelist().count("demo/extra") == 1
        assert archive.read("demo/extra") == b"new"


def test_folders_are_left_out_and_a_failure_leaves_the_wheel_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = written(tmp_path, list(FILES))
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.mkdir("demo/empty") if hasattr(archive, "mkdir") else archive.writestr("demo/empty/", b"")
    before = wheel.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(zipfile.ZipFile, "writestr", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            seal(wheel, epoch=EPOCH)
    assert wheel.read_bytes() == before
    seal(wheel, epoch=EPOCH)
    with zipfile.ZipFile(wheel) as archive:
        assert "demo/empty/" not in archive.namelist()
