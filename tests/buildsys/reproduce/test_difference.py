from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from buildsys.reproduce.difference import differences

BASE = {"a.py": b"first\nsecond\n", "lib/x.so": b"\0" * 40 + b"text" + b"\0" * 40}
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    made: list[Path] = []

    def wheel(files: dict[str, bytes], *, date: tuple[int, ...] = (2026, 1, 1, 0, 0, 0), mode: int = 0o644, level: int = 9) -> Path:
        path = tmp_path / f"{len(made)}.whl"
        made.append(path)
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in files.items():
                entry = zipfile.ZipInfo(name, date)  # type: ignore[arg-type]
                entry.external_attr = mode << 16
                archive.writestr(entry, content, zipfile.ZIP_DEFLATED, level)
        return path

    return wheel


def told(first: Path, second: Path) -> list[str]:
    return [str(difference) for difference in differences(first, second)]


def test_equal_archives_have_no_differences(write: Write) -> None:
    assert told(write(BASE), write(BASE)) == []


def test_a_member_that_one_lacks_is_named(write: Write) -> None:
    assert told(write(BASE), write({**BASE, "b.py": b""})) == ["b.py: presence: only in the second archive"]


def test_order_date_and_mode_are_told_apart(write: Write) -> None:
    assert told(write(BASE), write(dict(reversed(BASE.items())))) == ["archive: order: the members come in another order"]
    dates = told(write({"a": b""}), write({"a": b""}, date=(2026, 1, 1, 0, 0, 2)))
    assert dates == ["a: date: 2026-01-01-00-00-00 and 2026-01-01-00-00-02"]
    assert told(write({"a": b""}), write({"a": b""}, mode=0o600)) == ["a: mode: 0o644 and 0o600"]


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        (b"x\0built 2026-12-01 by", b"x\0built 2026-12-02 by", "timestamp"),
        (b"x\0at 11:02:03\0", b"x\0at 11:02:04\0", "timestamp"),
        (b"\0/one/project/file.c\0", b"\0/two/project/file.c\0", "path"),
        (b"\0C:\\one\\file.c\0", b"\0C:\\two\\file.c\0", "path"),
        (b"1\n2\n3\n", b"3\n2\n1\n", "order"),
        (b"\0" * 90 + b"\1", b"\0" * 90 + b"\2", "content"),
        (b"seed 12", b"seed 1234", "content"),
    ],
)
def test_the_kind_of_a_difference_is_guessed_from_what_stands_there(left: bytes, right: bytes, kind: str, write: Write) -> None:
    (difference,) = differences(write({"m": left}), write({"m": right}))
    assert (difference.member, difference.kind) == ("m", kind)


@pytest.mark.parametrize("at", [0, 1, 77, 4095, 9999])
def test_the_first_differing_byte_is_found(at: int, write: Write) -> None:
    left = bytes(10_000)
    right = left[:at] + b"\7" + left[at + 1 :]
    (difference,) = differences(write({"m": left}), write({"m": right}))
    assert difference.detail.startswith(f"from byte {at} on: ")


def test_sizes_are_told_where_one_is_longer(write: Write) -> None:
    (difference,) = differences(write({"m": b"abc"}), write({"m": b"abcdef"}))
    assert difference.detail == "from byte 3 on, sizes 3 and 6: 'abc' and 'abcdef'"


def test_another_compression_of_equal_members_is_called_so(write: Write) -> None:
    noise = {"m": bytes(range(256)) * 50}
    (difference,) = differences(write(noise), write(noise, level=1))
    assert (difference.member, difference.kind) == ("", "packing")
    assert "another zlib" in difference.detail


def test_source_distributions_are_compared_too(tmp_path: Path) -> None:
    paths = []
    for number, (owner, date) in enumerate([("", 0), ("builder", 60)]):
        path = tmp_path / f"{number}.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            entry = tarfile.TarInfo("demo/PKG-INFO")
            entry.size, entry.uname, entry.mtime = 4, owner, date
            archive.addfile(entry, io.BytesIO(b"text"))
        paths.append(path)
    assert [difference.kind for difference in differences(*paths)] == ["date", "owner"]
