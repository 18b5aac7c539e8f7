from __future__ import annotations

from pathlib import Path

import pytest

from buildsys.errors import WheelError
from buildsys.matrix import BuildRow, rows
from buildsys.matrix.wheels import built_for, row_of_wheel
from buildsys.pipeline.wheel import expected_version, host_platform


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.identifier)
def test_every_row_is_found_again_by_the_names_of_its_wheels(row: BuildRow) -> None:
    for platform in (row.platform_tag, host_platform(row).replace("-", "_").replace(".", "_")):
        name = Path(f"llama_cpp_python-{expected_version(row)}-py3-none-{platform}.whl")
        assert row_of_wheel(name, rows()) is row


@pytest.mark.parametrize(
    "name",
    [
        "llama_cpp_python-0.4.0-py3-none-any.whl",
        "llama_cpp_python-0.4.0+cu118-py3-none-manylinux_2_28_x86_64.whl",
        "llama_cpp_python-0.4.0-py3-none-musllinux_1_2_x86_64.whl",
        "llama_cpp_python.whl",
    ],
)
def test_a_wheel_that_no_row_makes_is_refused(name: str) -> None:
    with pytest.raises(WheelError):
        row_of_wheel(Path(name), rows())


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    for version, tag in (
        ("0.3.0", "manylinux_2_28_x86_64"),
        ("0.4.0", "manylinux_2_27_x86_64"),
        ("0.4.0+cu131", "manylinux_2_28_x86_64"),
        ("0.4.0", "manylinux_2_28_aarch64"),
        ("0.4.0", "win_amd64"),
    ):
        (tmp_path / f"llama_cpp_python-{version}-py3-none-{tag}.whl").touch()
    return tmp_path


def test_the_newest_wheels_of_a_platform_are_found(dist: Path) -> None:
    assert [path.name.split("-")[1] for path in built_for("linux_x86_64", dist)] == ["0.4.0+cu131", "0.4.0"]
    assert [path.name.split("-")[1] for path in built_for("linux_x86_64", dist, accelerated=False)] == ["0.4.0"]
    assert [path.name for path in built_for("windows_amd64", dist)] == ["llama_cpp_python-0.4.0-py3-none-win_amd64.whl"]


def test_a_platform_without_wheels_is_named(dist: Path) -> None:
    with pytest.raises(WheelError, match="no wheel for macos_arm64"):
        built_for("macos_arm64", dist)
