"""The run of the suite: isolation of its process, selection per Python, and ends without a report."""

from __future__ import annotations

import argparse
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from buildsys.conformance import command, runner
from buildsys.conformance.environment import Environment
from buildsys.conformance.interpreters import Interpreter
from buildsys.conformance.results import ConformanceResult
from buildsys.errors import ConformanceFailedError, WheelError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PASSED = '<testsuites><testsuite><testcase classname="a" name="b"/></testsuite></testsuites>'


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "thing-1.0-py3-none-any.whl"
    path.touch()
    return path


class Pytest:
    """Stands in for the child: records how it was started and leaves a report."""

    def __init__(self) -> None:
        self.calls: list[tuple[list[str], Path, Mapping[str, str]]] = []
        self.code, self.report = 0, PASSED
        self.files_in_cwd: list[str] = []

    def run(self, words: list[str], *, cwd: Path, env: Mapping[str, str], **_: object) -> subprocess.CompletedProcess[str]:
        self.calls.append((words, cwd, env))
        self.files_in_cwd = [path.name for path in cwd.iterdir()]
        if self.report:
            path = next(word.partition("=")[2] for word in words if word.startswith("--junitxml="))
            Path(path).write_text(self.report)
        return subprocess.CompletedProcess(words, self.code)


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> Pytest:
    child = Pytest()
    found = tuple(Interpreter(version=version, release=f"{version}.1", path=Path(f"/opt/{version}")) for version in ("3.10", "3.12"))

    @contextmanager
    def installed(_wheel: Path, interpreter: Interpreter, _requirements: Path) -> Iterator[Environment]:
        yield Environment(interpreter=interpreter, root=Path(f"/cache/{interpreter.version}"))

    monkeypatch.setattr(runner, "installed", installed)
    monkeypatch.setattr(runner, "find_interpreters", lambda _: found)
    monkeypatch.setattr(runner, "environment", lambda *_, **__: {"LLAMA_TEST_TRANSFORMER_MODEL": "/models/small.gguf"})
    monkeypatch.setattr(runner.subprocess, "run", child.run)
    for name in ("CI", "GITHUB_ACTIONS", "LLAMA_TEST_REQUIRE_MODELS"):
        monkeypatch.delenv(name, raising=False)
    return child


def test_newest_python_runs_all_and_the_others_less(wheel: Path, child: Pytest) -> None:
    results = runner.run_conformance([wheel])
    assert [(result.python, result.extent, result.ok) for result in results] == [("3.12.1", "whole", True), ("3.10.1", "short", True)]
    assert ["not once_per_wheel" in words for words, _, _ in child.calls] == [False, True]


def test_the_source_tree_is_out_of_reach(wheel: Path, child: Pytest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "package")
    runner.run_conformance([wheel])
    words, cwd, env = child.calls[0]
    assert words[1:5] == ["-I", "-B", "-m", "pytest"]
    assert "--import-mode=importlib" in words
    assert child.files_in_cwd == []
    assert not cwd.is_relative_to(runner.ROOT)
    assert "PYTHONPATH" not in env


def test_the_suite_is_told_what_it_tests(wheel: Path, child: Pytest) -> None:
    runner.run_conformance([wheel], pytest_args=["-k", "x"])
    words, _, env = child.calls[0]
    assert words[-2:] == ["-k", "x"]
    assert Path(env["LLAMA_TEST_WHEEL"]).name == wheel.name
    assert Path(env["LLAMA_TEST_GUIDE"]).is_dir()
    assert env["LLAMA_TEST_TRANSFORMER_MODEL"] == "/models/small.gguf"
    assert (env["LLAMA_TEST_REQUIRE_MODELS"], env["GGML_NO_BACKTRACE"]) == ("0", "1")


@pytest.mark.parametrize(
    ("setting", "required"),
    [(("CI", "true"), "1"), (("GITHUB_ACTIONS", "true"), "1"), (("CI", "false"), "0"), (("LLAMA_TEST_REQUIRE_MODELS", "1"), "1")],
)
def test_models_are_required_in_pipelines(
    wheel: Path, child: Pytest, monkeypatch: pytest.MonkeyPatch, setting: tuple[str, str], required: str
) -> None:
    monkeypatch.setenv(*setting)
    runner.run_conformance([wheel])
    assert child.calls[0][2]["LLAMA_TEST_REQUIRE_MODELS"] == required


@pytest.mark.parametrize(("code", "report"), [(-11, ""), (4, ""), (3, PASSED)], ids=["killed", "usage", "internal error after passes"])
def test_an_end_without_a_verdict_is_a_failure(wheel: Path, child: Pytest, code: int, report: str) -> None:
    child.code, child.report = code, report
    assert not any(result.ok for result in runner.run_conformance([wheel]))


def test_a_wheel_that_is_not_there(tmp_path: Path, child: Pytest) -> None:
    with pytest.raises(WheelError, match=r"gone\.whl"):
        runner.run_conformance([tmp_path / "gone.whl"])
    assert child.calls == []


def test_command_splits_wheels_from_pytest_arguments() -> None:
    assert command.split_items(["a.whl", "b.whl", "-k", "x.whl"]) == ([Path("a.whl"), Path("b.whl")], ["-k", "x.whl"])
    with pytest.raises(WheelError, match="-k"):
        command.split_items(["-k", "a.whl"])


def test_command_fails_when_a_suite_fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def result(failed: int) -> ConformanceResult:
        return ConformanceResult(wheel="a.whl", python="3.12.1", extent="whole", passed=5, failed=failed, skipped=0, seconds=1.0)

    parser = argparse.ArgumentParser()
    command.configure(parser)
    args = parser.parse_args(["--python", "3.12", "a.whl", "--", "-x"])
    monkeypatch.setattr(command, "run_conformance", lambda *_args, **_kwargs: [result(0)])
    assert command.run(args) == 0
    assert "a.whl" in capsys.readouterr().out
    monkeypatch.setattr(command, "run_conformance", lambda *_args, **_kwargs: [result(0), result(1)])
    with pytest.raises(ConformanceFailedError, match=r"a\.whl on Python 3\.12\.1"):
        command.run(args)
