"""Dispatch: the table of processors, verdicts, how ends are described, and the emulator that isn't there."""

from __future__ import annotations

import argparse
import signal
from pathlib import Path

import pytest

from buildsys import programs
from buildsys.dispatch import command, emulator, processors, runner
from buildsys.dispatch.emulator import EmulatorMissingError
from buildsys.dispatch.processors import Processor, UnknownProcessorError
from buildsys.dispatch.runner import Answer, DispatchResult, describe_end, judge
from buildsys.errors import ConformanceFailedError
from buildsys.matrix import rows

NEHALEM = Processor(model="Nehalem", variant="sse42")


def test_table_names_variants_that_the_matrix_builds() -> None:
    built = {variant for row in rows() if row.machine == "x86_64" for variant in row.cpu_variants}
    assert {row.variant for row in processors.processors()} <= built
    assert [row.model for row in processors.select(None)] == ["Nehalem", "SandyBridge", "IvyBridge", "Haswell"]


def test_selection_ignores_case_and_keeps_the_order() -> None:
    assert [row.model for row in processors.select(["haswell", "Nehalem"])] == ["Nehalem", "Haswell"]
    with pytest.raises(UnknownProcessorError, match="Pentium"):
        processors.select(["Pentium"])


@pytest.mark.parametrize(
    ("variant", "text", "fault", "verdict"),
    [
        ("sse42", " Paris", "", ""),
        ("x64", " Paris", "", "chose x64, not sse42"),
        ("sse42", " London", "", "wrote ' London', where this processor writes ' Paris'"),
        ("", "", "executed an illegal instruction ()", "executed an illegal instruction ()"),
    ],
)
def test_verdicts(variant: str, text: str, fault: str, verdict: str) -> None:
    result = judge(NEHALEM, Answer(variant=variant, text=text, fault=fault, seconds=1.0), " Paris")
    assert (result.fault, result.ok) == (verdict, not verdict)


@pytest.mark.parametrize("code", [-signal.SIGILL, 128 + signal.SIGILL])
def test_illegal_instruction_is_named_however_it_is_reported(code: int) -> None:
    assert "illegal instruction" in describe_end(code, "qemu: uncaught target signal 4\n")


def test_other_ends_are_described() -> None:
    assert describe_end(-11, "") == "was killed by SIGSEGV ()"
    assert describe_end(1, "Traceback\nValueError: no\n\n") == "ended with 1: ValueError: no"


class TestEmulator:
    def test_named_with_its_package_where_it_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(emulator.sys, "platform", "linux")
        monkeypatch.setattr(programs.shutil, "which", lambda *_, **__: None)
        with pytest.raises(EmulatorMissingError, match="qemu-x86_64") as caught:
            emulator.find_emulator()
        assert all(word in caught.value.hint for word in ("apt-get install qemu-user", "dnf install", "pacman -S"))

    def test_other_systems(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(emulator.sys, "platform", "darwin")
        with pytest.raises(EmulatorMissingError, match="Linux"):
            emulator.find_emulator()


def test_command_fails_when_one_processor_does(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    command.configure(parser)
    args = parser.parse_args(["a.whl", "--cpu", "Nehalem", "--python", "3.11"])
    assert (args.wheel, args.cpu, args.python) == (Path("a.whl"), ["Nehalem"], "3.11")
    good = DispatchResult(cpu="Nehalem", expected="sse42", chosen="sse42", text=" Paris", seconds=3.0)
    bad = DispatchResult(cpu="Haswell", expected="haswell", chosen="x64", text=" Paris", seconds=3.0, fault="chose x64, not haswell")
    monkeypatch.setattr(command, "run_dispatch", lambda *_args, **_kwargs: [good])
    assert command.run(args) == 0
    assert "sse42" in capsys.readouterr().out
    monkeypatch.setattr(command, "run_dispatch", lambda *_args, **_kwargs: [good, bad])
    with pytest.raises(ConformanceFailedError, match="Haswell: chose x64"):
        command.run(args)


def test_probe_is_a_script_of_its_own() -> None:
    assert runner.PROBE.is_file()
    assert "buildsys" not in runner.PROBE.read_text(encoding="utf-8")
