from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest
from delocate.cmd import delocate_wheel

from buildsys.errors import WheelError
from buildsys.matrix import select_one
from buildsys.repair import macos, repair

ROW = select_one("macos_arm64-metal")
NAME = "llama_cpp_python-1.0-py3-none-macosx_14_0_arm64.whl"


class Delocate:
    """Stands in for the tool: its command line, and a wheel with the members that it is to leave."""

    def __init__(self) -> None:
        self.command: list[str] = []
        self.members = ["llama_cpp/lib/libllama.dylib"]

    def __call__(self, command: list[str], *, log: Path, label: str) -> None:
        assert log.name == "log"
        assert ROW.identifier in label
        self.command = command
        with zipfile.ZipFile(Path(command[command.index("--wheel-dir") + 1]) / NAME, "w") as archive:
            for member in self.members:
                archive.writestr(member, "")


@pytest.fixture
def delocate(monkeypatch: pytest.MonkeyPatch) -> Delocate:
    stand_in = Delocate()
    monkeypatch.setattr(macos, "run_logged", stand_in)
    return stand_in


def test_machine_and_oldest_macos_are_those_of_the_row(delocate: Delocate, tmp_path: Path) -> None:
    repair(ROW, Path("packaged.whl"), tmp_path, log=tmp_path / "log")
    assert delocate.command[:3] == [sys.executable, "-m", "delocate.cmd.delocate_wheel"]
    read = delocate_wheel.parser.parse_args(delocate.command[3:])
    assert (read.require_archs, str(read.require_target_macos_version)) == ("arm64", "14.0")
    assert (read.wheels, read.wheel_dir) == (["packaged.whl"], str(tmp_path))


def test_a_library_from_outside_is_refused(delocate: Delocate, tmp_path: Path) -> None:
    delocate.members.append("llama_cpp/.dylibs/libomp.dylib")
    with pytest.raises(WheelError, match=r"needs libomp\.dylib") as caught:
        repair(ROW, Path("packaged.whl"), tmp_path, log=tmp_path / "log")
    assert "otool" in caught.value.hint
