"""The command: which wheels it takes by itself, its arguments, its table and its exit."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

from buildsys.conformance.results import ConformanceResult, Outcome
from buildsys.errors import ConformanceFailedError, WheelError
from buildsys.systems import command
from buildsys.systems.results import SystemResult
from buildsys.systems.root import RootUnavailableError

SUITE = ConformanceResult(wheel="a.whl", python="3.11.2", extent="whole", passed=5, failed=0, skipped=1, seconds=61.0)


def result(name: str, **changes: Any) -> SystemResult:
    stated = {"wheel": "a.whl", "glibc": "2.31", "python": "3.11.2", "variant": "haswell", "text": " 5", "suite": SUITE}
    return SystemResult(**{"system": name, "machine": "x86_64", **stated, **changes})


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.configure(parser)
    return parser.parse_args(words)


class Runs:
    """Stands in for the run: keeps what it was called with."""

    def __init__(self, results: list[SystemResult]) -> None:
        self.results = results
        self.called: dict[str, Any] = {}

    def __call__(self, names: list[str], wheels: list[Path], **options: Any) -> list[SystemResult]:
        self.called = {"names": names, "wheels": wheels, **options}
        return self.results


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    runs = Runs([result("old")])
    monkeypatch.setattr(command, "run_systems", runs)
    return runs


def test_systems_wheels_and_pytests_arguments_are_told_apart(runs: Runs) -> None:
    options = ["--wheel", "a.whl", "--wheel", "b.whl", "--mirror", "http://near", "--fresh"]
    assert command.run(parse(*options, "old", "sid", "--", "-k", "x", "--", "-x")) == 0
    assert runs.called == {
        "names": ["old", "sid"],
        "wheels": [Path("a.whl"), Path("b.whl")],
        "mirror": "http://near",
        "fresh": True,
        "pytest_args": ["-k", "x", "-x"],
    }
    assert command.run(parse("old", *options)) == 0
    assert (runs.called["names"], runs.called["pytest_args"]) == (["old"], [])


def test_the_newest_cpu_wheels_of_linux_are_taken(tmp_path: Path) -> None:
    names = ["1.0-py3-none-manylinux_2_28_x86_64", "1.1-py3-none-manylinux_2_28_x86_64", "1.1-py3-none-manylinux_2_28_aarch64"]
    others = ["1.2+cu131-py3-none-manylinux_2_28_x86_64", "1.2-py3-none-win_amd64", "1.2-py3-none-macosx_14_0_arm64"]
    for name in (*names, *others):
        (tmp_path / f"llama_cpp_python-{name}.whl").touch()
    assert sorted(path.name for path in command.built_wheels(tmp_path)) == sorted(f"llama_cpp_python-{name}.whl" for name in names[1:])


def test_no_wheel_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(WheelError) as caught:
        command.built_wheels(tmp_path)
    assert "nox -s build_wheels" in caught.value.hint


def test_the_table_says_all(capsys: pytest.CaptureFixture[str]) -> None:
    failed = ConformanceResult(
        wheel="a.whl",
        python="3.14.1",
        extent="short",
        passed=4,
        failed=1,
        skipped=1,
        seconds=9.0,
        failures=(Outcome(test="a.b", reason="[assert] 1 == 2"),),
        skips=(Outcome(test="c", reason="no GPU"),),
    )
    command.print_results(
        [
            result("old", notes=("its own Python 3.9: pip refuses the wheel",)),
            result("new", suite=failed, faults=("wrote ' 6'",)),
            SystemResult(system="sid", machine="x86_64", obstacle="no route"),
        ]
    )
    out = capsys.readouterr().out
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line.strip()}
    assert rows["old"] == ["old", "2.31", "3.11.2", "haswell", "whole", "5", "0", "1", "61", "ok"]
    assert rows["sid"] == ["sid", "-", "-", "-", "-", "-", "-", "-", "-", "not", "proved"]
    for line in (
        "old: its own Python 3.9: pip refuses the wheel",
        "failed on new: wrote ' 6'",
        "failed on new: a.b: [assert] 1 == 2",
        "sid: not proved: no route",
        "skipped 1: no GPU",
    ):
        assert line in out
    assert max(len(line) for line in out.splitlines() if "whole" in line) <= command._FILE_WIDTH


@pytest.mark.parametrize(
    ("results", "error", "words"),
    [
        ([result("old"), result("new", faults=("wrote ' 6'",))], ConformanceFailedError, "a.whl on new"),
        ([result("old"), result("sid", suite=None, obstacle="no route")], RootUnavailableError, "nothing is proved on sid"),
        ([result("new", suite=None), result("sid", obstacle="no route")], ConformanceFailedError, "new"),
    ],
    ids=["failed", "unproved", "both"],
)
def test_the_exit_tells_a_failed_wheel_from_a_missing_system(
    runs: Runs, results: list[SystemResult], error: type[Exception], words: str
) -> None:
    runs.results = results
    with pytest.raises(error, match=words):
        command.run(parse("--wheel", "a.whl"))


def test_the_list_needs_no_wheel(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(parse("--list")) == 0
    assert runs.called == {}
    assert "bullseye" in capsys.readouterr().out
