"""Environments: what is withheld from them, what they are keyed by, and how a failure reads."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from buildsys.conformance import environment
from buildsys.conformance.environment import EnvironmentSetupError, clean_variables, installed, runtime_requirements
from buildsys.conformance.interpreters import Interpreter
from buildsys.errors import WheelError

METADATA = """Metadata-Version: 2.1
Name: thing
Version: 1.0
Requires-Dist: numpy>=1.24
Requires-Dist: tomli>=2; python_version < "3.11"
Requires-Dist: huggingface-hub>=0.25; extra == "hf"
Requires-Dist: fastapi; python_version >= "3.10" and extra == "server"

Requires-Dist: not-a-header
"""


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "thing-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("thing-1.0.dist-info/METADATA", METADATA)
    return path


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """The commands that would have run; creating an environment makes its folder."""
    ran: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        ran.append([str(word) for word in command])
        if "venv" in command:
            python = Path(command[-1]) / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
            python.parent.mkdir(parents=True)
            python.touch()
        code = 1 if "check" in command and "broken" in ran[0][0] else 0
        return subprocess.CompletedProcess(command, code, stdout="thing 1.0 requires numpy, which is not installed.\n")

    monkeypatch.setattr(environment.subprocess, "run", run)
    monkeypatch.setattr(environment, "cache_dir", lambda: tmp_path / "cache")
    return ran


def interpreter(name: str = "python3.12") -> Interpreter:
    return Interpreter(version="3.12", release="3.12.1", path=Path(f"/opt/{name}"))


def requirements(folder: Path, text: str = "# why\npytest==1.0  # pinned\n\n") -> Path:
    path = folder / "requirements.txt"
    path.write_text(text)
    return path


def test_extras_are_left_out_of_the_requirements(wheel: Path) -> None:
    assert runtime_requirements(wheel) == ("numpy>=1.24", 'tomli>=2; python_version < "3.11"')


def test_a_wheel_without_metadata_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/b.dist-info/METADATA", METADATA)
    with pytest.raises(WheelError, match="METADATA"):
        runtime_requirements(path)


def test_variables_that_steer_python_or_the_loader_are_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTHONPATH", "PYTHONHOME", "LD_PRELOAD", "LD_LIBRARY_PATH", "LLAMA_CPP_LIB_PATH", "GGML_BACKEND_PATH", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("PIP_INDEX_URL", "https://mirror.example")
    monkeypatch.setenv("HOME", "/home/someone")
    variables = clean_variables({"GGML_NO_BACKTRACE": "1"})
    assert not {name for name in variables if name.startswith(("PYTHON", "LD_", "LLAMA_", "OMP_"))}
    assert {name: variables[name] for name in ("PIP_INDEX_URL", "HOME", "GGML_NO_BACKTRACE")} == {
        "PIP_INDEX_URL": "https://mirror.example",
        "HOME": "/home/someone",
        "GGML_NO_BACKTRACE": "1",
    }
    assert "GGML_BACKEND_PATH" not in variables


def test_environment_is_made_once_and_the_wheel_put_in_each_time(wheel: Path, commands: list[list[str]], tmp_path: Path) -> None:
    for _ in range(2):
        with installed(wheel, interpreter(), requirements(tmp_path)) as made:
            assert made.python.exists()
    kinds = [command[5 if "pip" in command else 3] if "pip" not in command else command[command.index("pip") + 3] for command in commands]
    assert [" ".join(command) for command in commands if "venv" in command and "pip" not in command] == [
        f"/opt/python3.12 -I -m venv {made.root}"
    ]
    assert kinds.count("install") == 3, kinds
    assert sum("--force-reinstall" in command for command in commands) == 2
    assert sum("check" in command for command in commands) == 2
    first = next(command for command in commands if "install" in command)
    assert first[-3:] == ["numpy>=1.24", 'tomli>=2; python_version < "3.11"', "pytest==1.0"]


def test_half_made_environment_is_made_again(wheel: Path, commands: list[list[str]], tmp_path: Path) -> None:
    with installed(wheel, interpreter(), requirements(tmp_path)) as made:
        (made.root / "requirements-installed.txt").unlink()
        (made.root / "stale").touch()
    with installed(wheel, interpreter(), requirements(tmp_path)):
        assert not (made.root / "stale").exists()
    assert sum("--force-reinstall" not in command and "install" in command for command in commands) == 2


def test_other_requirements_mean_another_environment(wheel: Path, commands: list[list[str]], tmp_path: Path) -> None:
    with installed(wheel, interpreter(), requirements(tmp_path)) as first:
        pass
    with installed(wheel, interpreter(), requirements(tmp_path, "pytest==2.0\n")) as second:
        pass
    assert first.root != second.root
    assert commands


def test_pip_check_that_fails_is_an_error_with_its_words(wheel: Path, commands: list[list[str]], tmp_path: Path) -> None:
    with pytest.raises(EnvironmentSetupError, match="requires numpy"), installed(wheel, interpreter("broken"), requirements(tmp_path)):
        pytest.fail("the block must not run")
    assert commands
