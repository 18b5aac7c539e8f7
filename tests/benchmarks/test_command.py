from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import environments
from benchmarks.line import Line, at_least
from benchmarks.rows import ROWS
from benchmarks.statistics import Figure


def test_help_names_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert all(row.key in shown for row in ROWS)


def test_an_unknown_row_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["gredy"])
    assert "no row gredy; rows are greedy" in capsys.readouterr().err


@pytest.mark.parametrize(("failure", "code"), [("", 0), ("it broke", 1)])
def test_a_missed_target_is_no_failure_but_a_missing_measurement_is(failure: str, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    missed = Line(row="r", measured="m", figure=Figure(value=0.1, low=0.1, high=0.1), target=at_least(1.0), failure=failure)
    monkeypatch.setattr(command, "measure", lambda _rows, _args: ({}, [missed]))
    assert command.main(["greedy"]) == code


def test_without_a_wheel_the_next_step_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environments, "DIST", tmp_path)
    assert command.main(["greedy", "--no-peer"]) != 0
    assert "nox -s build_wheels" in capsys.readouterr().err


def test_the_newest_wheel_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for age, name in enumerate(
        ["llama_cpp_python-0.5-py3-none-any.whl", "llama_cpp_python-0.4-py3-none-any.whl", "other-1-py3-none-any.whl"]
    ):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    monkeypatch.setattr(environments, "DIST", tmp_path)
    assert environments.newest_wheel().name == "llama_cpp_python-0.5-py3-none-any.whl"


def test_the_working_tree_runs_on_libraries_of_elsewhere(tmp_path: Path) -> None:
    subject = environments.tree_subject(tmp_path, environments.find_interpreter(""))
    assert subject.ours.variables["LLAMA_CPP_LIB_PATH"] == str(tmp_path)
    assert subject.bare.arguments == (str(tmp_path),)
    assert "LLAMA_CPP_LIB_PATH" not in subject.bare.variables
