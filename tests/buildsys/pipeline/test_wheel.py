from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from buildsys.errors import WheelError
from buildsys.matrix import select
from buildsys.pipeline import wheel
from buildsys.project import package_version

ROW = select(["linux_x86_64-cpu"])[0]
VERSION = package_version()


def test_the_local_version_is_part_of_what_is_expected() -> None:
    cuda = msgspec.structs.replace(ROW, identifier="linux_x86_64-cu131", accelerator="cu131")
    assert wheel.expected_version(ROW) == VERSION
    assert wheel.expected_version(cuda) == f"{VERSION}+cu131"


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
        wheel._only_wheel(tmp_path, ROW)


def test_the_expected_wheel_is_found(tmp_path: Path) -> None:
    right = tmp_path / f"llama_cpp_python-{VERSION}-py3-none-linux_x86_64.whl"
    right.touch()
    assert wheel._only_wheel(tmp_path, ROW) == right


def test_no_wheel_or_two_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WheelError, match="found 0"):
        wheel._only_wheel(tmp_path, ROW)
    for platform in ("linux_x86_64", "linux_aarch64"):
        (tmp_path / f"llama_cpp_python-{VERSION}-py3-none-{platform}.whl").touch()
    with pytest.raises(WheelError, match="found 2"):
        wheel._only_wheel(tmp_path, ROW)


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

    def auditwheel(command: list[str | Path], **_: object) -> None:
        folder = Path(command[command.index("--wheel-dir") + 1])
        (folder / f"llama_cpp_python-{VERSION}-py3-none-manylinux_2_27_x86_64.whl").write_text("new", encoding="utf-8")

    monkeypatch.setattr(wheel, "DIST", dist)
    monkeypatch.setattr(wheel, "run_logged", auditwheel)
    monkeypatch.setenv("LLAMA_CPP_BUILD_CACHE", str(tmp_path / "cache"))
    repaired = wheel.repair_wheel(ROW, tmp_path / "packaged.whl")
    assert repaired.read_text(encoding="utf-8") == "new"
    assert sorted(dist.iterdir()) == sorted([repaired, *others])
