"""Finding Pythons: order of candidates, what counts as suitable, and names that must exist."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from buildsys.conformance import interpreters
from buildsys.conformance.interpreters import Interpreter, InterpreterNotFoundError, candidates, describe, find_interpreters

RUNNING = "{}.{}".format(*sys.version_info[:2])


@pytest.fixture(autouse=True)
def _fresh_cache() -> None:
    describe.cache_clear()


def executable(path: Path, text: str = "#!/bin/sh\nexit 3\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def stand_in(version: str, *, suitable: str = "true") -> str:
    facts = f'{{"version": "{version}", "release": "{version}.7", "path": "/somewhere/python{version}", "suitable": {suitable}}}'
    return f"#!/bin/sh\necho '{facts}'\n"


def test_running_interpreter_is_described() -> None:
    found = describe(sys.executable)
    assert found is not None
    assert found.version == RUNNING
    assert found.release.startswith(RUNNING)


def test_explicit_names_are_found_once_and_sorted(tmp_path: Path) -> None:
    newer = executable(tmp_path / "newer", stand_in("3.13"))
    older = executable(tmp_path / "older", stand_in("3.9"))
    assert [item.version for item in find_interpreters([str(newer), str(older), str(newer)])] == ["3.9", "3.13"]


@pytest.mark.parametrize("name", ["3.99", "/no/such/python"])
def test_a_name_that_is_not_there_is_an_error_that_names_it(name: str) -> None:
    with pytest.raises(InterpreterNotFoundError, match=name) as caught:
        find_interpreters([name])
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    ["#!/bin/sh\nexit 3\n", "#!/bin/sh\necho nonsense\n", stand_in("3.12", suitable="false")],
    ids=["fails", "nonsense", "unsuitable"],
)
def test_what_cannot_host_the_suite_is_passed_over(tmp_path: Path, text: str) -> None:
    assert describe(str(executable(tmp_path / "python3.12", text))) is None


def test_search_takes_the_next_candidate_when_one_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = executable(tmp_path / "bin" / "python3.98")
    good = executable(tmp_path / "pyenv" / "versions" / "3.98.1" / "bin" / "python3.98", stand_in("3.98"))
    monkeypatch.setenv("PATH", str(broken.parent), prepend=":")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    assert list(candidates("3.98")) == [str(broken), str(good)]
    assert find_interpreters(["3.98"])[0].release == "3.98.7"


def test_newest_patch_release_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    paths = [executable(tmp_path / "versions" / f"3.98.{patch}" / "bin" / "python3.98") for patch in (2, 10, 9)]
    assert list(candidates("3.98")) == [str(paths[1]), str(paths[2]), str(paths[0])]


def test_all_found_without_names(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {version: Interpreter(version=version, release=f"{version}.0", path=Path("/x")) for version in ("3.10", "3.12")}
    monkeypatch.setattr(interpreters, "_first", known.get)
    assert [item.version for item in find_interpreters()] == ["3.10", "3.12"]


def test_windows_launcher_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    listing = " -V:3.13 *   C:\\P313\\python.exe\n -V:3.12     C:\\Program Files\\P312\\python.exe\n -V:3.12-32  C:\\P32\\python.exe\n"

    class Done:
        stdout = listing

    monkeypatch.setattr(interpreters.subprocess, "run", lambda *_args, **_kwargs: Done)
    assert list(interpreters._windows_launcher("3.13")) == ["C:\\P313\\python.exe"]
    assert next(iter(interpreters._windows_launcher("3.12"))) == "C:\\Program Files\\P312\\python.exe"
