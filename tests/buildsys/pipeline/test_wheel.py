from __future__ import annotations

from pathlib import Path

import pytest

from buildsys.errors import WheelError
from buildsys.matrix import BuildRow, select
from buildsys.pipeline import wheel
from buildsys.project import package_version

ROW = select(["linux_x86_64-cpu"])[0]
VERSION = package_version()


def test_the_local_version_is_part_of_what_is_expected() -> None:
    assert wheel.expected_version(ROW) == VERSION
    assert wheel.expected_version(select(["linux_x86_64-cu131"])[0]) == f"{VERSION}+cu131"


@pytest.mark.parametrize(
    ("identifier", "platform"),
    [
        ("linux_aarch64-cpu", "linux-aarch64"),
        ("windows_amd64-cu131", "win-amd64"),
        ("macos_arm64-metal", "macosx-14.0-arm64"),
        ("macos_x86_64-cpu", "macosx-14.0-x86_64"),
    ],
)
def test_the_packaging_is_told_of_the_rows_platform_and_not_of_the_builders(identifier: str, platform: str) -> None:
    variables = wheel.packaging_variables(select([identifier])[0])
    assert variables == {"LLAMA_CPP_BUILD": identifier, "_PYTHON_HOST_PLATFORM": platform}


@pytest.mark.parametrize(
    "name",
    [
        f"llama_cpp_python-{VERSION}-cp312-cp312-linux_x86_64.whl",
        "llama_cpp_python-9.9.9-py3-none-linux_x86_64.whl",
        f"llama_cpp_python-{VERSION}+cu131-py3-none-linux_x86_64.whl",
        f"other-{VERSION}-py3-none-linux_x86_64.whl",
    ],
)
def test_any_other_wheel_than_the_expected_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(WheelError, match="is not a py3-none wheel"):
        wheel.only_wheel(tmp_path, ROW)


def test_the_expected_wheel_is_found(tmp_path: Path) -> None:
    right = tmp_path / f"llama_cpp_python-{VERSION}-py3-none-linux_x86_64.whl"
    right.touch()
    assert wheel.only_wheel(tmp_path, ROW) == right


def test_no_wheel_or_two_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WheelError, match="found 0"):
        wheel.only_wheel(tmp_path, ROW)
    for platform in ("linux_x86_64", "linux_aarch64"):
        (tmp_path / f"llama_cpp_python-{VERSION}-py3-none-{platform}.whl").touch()
    with pytest.raises(WheelError, match="found 2"):
        wheel.only_wheel(tmp_path, ROW)


def test_repair_replaces_older_wheels_of_the_same_build_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dist = tmp_path / "dist"
    dist.mkdir()
    older = dist / f"llama_cpp_python-{VERSION}-py3-none-manylinux_2_34_x86_64.whl"
    others = [
        dist / f"llama_cpp_python-{VERSION}+cu131-py3-none-manylinux_2_28_x86_64.whl",
        dist / f"llama_cpp_python-{VERSION}-py3-none-manylinux_2_28_aarch64.whl",
    ]
    for file in (older, *others):
        file.touch()

    def auditwheel(_row: BuildRow, _packaged: Path, folder: Path, **_: object) -> None:
        (folder / f"llama_cpp_python-{VERSION}-py3-none-manylinux_2_27_x86_64.whl").write_text("new", encoding="utf-8")

    monkeypatch.setattr(wheel, "repair", auditwheel)
    monkeypatch.setenv("LLAMA_CPP_BUILD_CACHE", str(tmp_path / "cache"))
    repaired = wheel.repair_wheel(ROW, tmp_path / "packaged.whl", dist)
    assert repaired.read_text(encoding="utf-8") == "new"
    assert sorted(dist.iterdir()) == sorted([repaired, *others])
