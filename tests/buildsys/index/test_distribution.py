from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from buildsys.errors import WheelError
from buildsys.index.distribution import FileRefusedError, folder_of, read_all, read_sdist, read_wheel
from buildsys.matrix import rows
from tests.buildsys.index.small_wheels import LINUX, make_sdist, make_wheel, metadata


@pytest.mark.parametrize(
    ("version", "platform", "folder", "build"),
    [
        ("0.4.0", LINUX, "cpu", "linux_x86_64-cpu"),
        ("0.4.0+cu131", LINUX, "cu131", "linux_x86_64-cu131"),
        ("0.4.0+cu124", "win_amd64", "cu124", "windows_amd64-cu124"),
        ("0.4.0", "manylinux_2_28_aarch64", "cpu", "linux_aarch64-cpu"),
        ("0.4.0", "macosx_14_0_arm64", "cpu", "macos_arm64-metal"),
        ("0.4.0", "macosx_14_0_x86_64", "cpu", "macos_x86_64-cpu"),
    ],
)
def test_a_wheel_goes_where_its_users_look(tmp_path: Path, version: str, platform: str, folder: str, build: str) -> None:
    read = read_wheel(make_wheel(tmp_path, version, platform), rows())
    assert (read.folder, read.build, str(read.version), read.requires_python) == (folder, build, version, ">=3.10")


def test_every_row_has_a_folder_and_a_mac_needs_no_choice() -> None:
    folders = {row.identifier: folder_of(row) for row in rows()}
    assert folders["macos_arm64-metal"] == "cpu"
    assert all(folder in {"cpu", identifier.partition("-")[2]} for identifier, folder in folders.items())


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ({"metadata_text": metadata("0.4.1")}, "metadata says version 0.4.1"),
        ({"metadata_text": metadata("0.4.0+cu131")}, r"metadata says version 0.4.0\+cu131"),
        ({"metadata_text": metadata("0.4.0", name="llama")}, "its metadata for llama"),
        ({"metadata_text": metadata("0.4.0", requires_python="three")}, "requires-python"),
        ({"metadata_text": "nothing"}, "not a valid metadata version"),
        ({"dist_info": "llama_cpp_python-0.4.1.dist-info"}, "dist-info folders are llama_cpp_python-0.4.1.dist-info"),
        ({"tag": "py3-none-win_amd64"}, "WHEEL says py3-none-win_amd64"),
        ({"platform": "linux_x86_64"}, "not repaired"),
    ],
)
def test_a_wheel_that_contradicts_itself_is_refused(tmp_path: Path, made: dict[str, Any], reason: str) -> None:
    with pytest.raises(FileRefusedError, match=reason):
        read_wheel(make_wheel(tmp_path, **made), rows())


@pytest.mark.parametrize(("version", "platform"), [("0.4.0+cu999", LINUX), ("0.4.0+rocm6", LINUX), ("0.4.0", "musllinux_1_2_x86_64")])
def test_a_wheel_that_the_matrix_does_not_know_is_refused(tmp_path: Path, version: str, platform: str) -> None:
    with pytest.raises(WheelError, match="no row of the build matrix"):
        read_wheel(make_wheel(tmp_path, version, platform), rows())


def test_a_label_that_its_row_has_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WheelError, match="label"):
        read_wheel(make_wheel(tmp_path, "0.4.0+cu131", "macosx_14_0_arm64"), rows())


def test_a_renamed_wheel_is_refused(tmp_path: Path) -> None:
    renamed = make_wheel(tmp_path).rename(tmp_path / f"llama_cpp_python-0.4.0+cu131-py3-none-{LINUX}.whl")
    with pytest.raises(FileRefusedError, match=r"its name demands llama_cpp_python-0\.4\.0\+cu131\.dist-info"):
        read_wheel(renamed, rows())


def test_a_damaged_wheel_is_refused_by_name(tmp_path: Path) -> None:
    path = make_wheel(tmp_path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(FileRefusedError, match="cannot be read"):
        read_wheel(path, rows())


def test_one_build_of_a_version_is_offered_once(tmp_path: Path) -> None:
    make_wheel(tmp_path / "one", platform="manylinux_2_27_x86_64")
    make_wheel(tmp_path / "two", platform="manylinux_2_28_x86_64")
    with pytest.raises(FileRefusedError, match=r"are both linux_x86_64-cpu of version 0\.4\.0"):
        read_all(tmp_path, rows())


def test_the_same_file_in_two_folders_is_refused(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        make_wheel(tmp_path / folder)
    with pytest.raises(FileRefusedError, match="are both"):
        read_all(tmp_path, rows())


def test_what_is_no_distribution_is_passed_over(tmp_path: Path) -> None:
    for name in ("report.json", "index-site.tar.gz"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    assert read_all(tmp_path, rows()) == []
    make_wheel(tmp_path)
    make_sdist(tmp_path)
    assert len(read_all(tmp_path, rows())) == 2


def test_a_source_distribution_serves_those_without_a_wheel(tmp_path: Path) -> None:
    read = read_sdist(make_sdist(tmp_path))
    assert (read.folder, read.build, read.metadata, read.requires_python) == ("cpu", "sdist", None, ">=3.10")


def test_a_source_distribution_that_contradicts_itself_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileRefusedError, match=r"metadata says version 0\.3\.9"):
        read_sdist(make_sdist(tmp_path, stated="0.3.9"))
