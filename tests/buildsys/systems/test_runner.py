"""The run over systems: which wheel goes where, what becomes of each step's failure, and what the suite is told."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from buildsys.conformance.environment import EnvironmentSetupError
from buildsys.dispatch.processors import Processor
from buildsys.dispatch.runner import Answer
from buildsys.systems import runner
from buildsys.systems.chamber import Chamber
from buildsys.systems.environment import Facts, SystemUnfitError
from buildsys.systems.host import Host, RightsMissingError
from buildsys.systems.refusal import Refusal
from buildsys.systems.root import Root, RootUnavailableError
from buildsys.systems.table import System

if TYPE_CHECKING:
    from collections.abc import Iterator

    from buildsys.systems.results import SystemResult

PASSED = '<testsuites><testsuite><testcase classname="a" name="b"/></testsuite></testsuites>'
HOST = Host(debootstrap="/usr/sbin/debootstrap", bubblewrap="/usr/bin/bwrap", keyring=Path("/keys.gpg"))
OLD = System(name="old", suite="bullseye", machine="x86_64", packages=("python3",), glibc="2.31", python="3.11")
ARM = System(name="arm", suite="bookworm", machine="aarch64", packages=("python3",), patience=20)
X86_WHEEL = "llama_cpp_python-1.0-py3-none-manylinux_2_28_x86_64.whl"
ARM_WHEEL = "llama_cpp_python-1.0-py3-none-manylinux_2_28_aarch64.whl"


class Stage:
    """Stands in for every step; each can be told to raise."""

    def __init__(self) -> None:
        self.systems = (OLD, ARM)
        self.raises: dict[str, Exception] = {}
        self.facts: dict[str, str] = {}
        self.answers: dict[str, Answer] = {}
        self.texts = Answer(variant="haswell", text=" 5, 6", seconds=1.0)
        self.refusal = Refusal(said="too old")
        self.commands: list[list[str]] = []
        self.report = PASSED
        self.code = 0
        self.reserved: list[tuple[str, bool]] = []

    def step(self, name: str) -> None:
        if name in self.raises:
            raise self.raises[name]

    def prepare(self, _system: System) -> Host:
        self.step("prepare")
        return HOST

    @contextmanager
    def root(self, system: System, _host: Host, *, mirror: str, fresh: bool) -> Iterator[Root]:
        self.step("root")
        self.reserved.append((mirror, fresh))
        yield Root(folder=Path("/cache") / system.name)

    def look(self, chamber: Chamber, _interpreter: str) -> Facts:
        self.step("look")
        machine = "aarch64" if "arm" in str(chamber.root) else "x86_64"
        return Facts(**{"release": "3.11.2", "version": "3.11", "glibc": "2.31", "machine": machine, **self.facts})

    def installed(self, chamber: Chamber, *_: object, **__: object) -> Chamber:
        self.step("installed")
        return chamber

    def ask(self, command: list[str], _variables: object, *, timeout: float) -> Answer:
        assert timeout >= 900
        at = command.index("QEMU_CPU") + 1 if "QEMU_CPU" in command else None
        return self.answers[command[at]] if at else self.texts

    def run(self, words: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        self.commands.append(words)
        if self.report:
            folder = words[words.index("/proof/report") - 1]
            (Path(folder) / "report.xml").write_text(self.report)
        return subprocess.CompletedProcess(words, self.code)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Stage:
    stage = Stage()
    model = tmp_path / "small.gguf"
    model.touch()
    monkeypatch.setattr(runner, "select", lambda names: tuple(each for each in stage.systems if not names or each.name in names))
    monkeypatch.setattr(runner, "environment", lambda *_, **__: {"LLAMA_TEST_TRANSFORMER_MODEL": str(model)})
    monkeypatch.setattr(runner, "resolve", lambda names: dict.fromkeys(names, model))
    monkeypatch.setattr(runner, "prepare", stage.prepare)
    monkeypatch.setattr(runner.root, "reserved", stage.root)
    monkeypatch.setattr(runner, "look", stage.look)
    monkeypatch.setattr(runner, "installed", stage.installed)
    monkeypatch.setattr(runner, "ask", stage.ask)
    monkeypatch.setattr(runner.refusal, "check", lambda *_: stage.refusal)
    monkeypatch.setattr(runner.subprocess, "run", stage.run)
    monkeypatch.setattr(runner, "is_foreign", lambda system: system.machine == "aarch64")
    return stage


@pytest.fixture
def wheels(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / X86_WHEEL, tmp_path / ARM_WHEEL]
    for path in paths:
        path.touch()
    return paths


def prove(wheels: list[Path], *names: str, **options: Any) -> list[SystemResult]:
    return runner.run_systems(names, wheels, **options)


def test_each_system_gets_the_wheel_for_its_machine(stage: Stage, wheels: list[Path]) -> None:
    results = prove(wheels)
    assert [(result.system, result.wheel, result.verdict) for result in results] == [("old", X86_WHEEL, "ok"), ("arm", ARM_WHEEL, "ok")]
    assert (results[0].glibc, results[0].python, results[0].variant, results[0].text) == ("2.31", "3.11.2", "haswell", " 5, 6")
    assert len(stage.commands) == 2


def test_a_machine_without_a_wheel_is_said_to_be_unproved(stage: Stage, wheels: list[Path]) -> None:
    results = prove(wheels[:1])
    assert [result.verdict for result in results] == ["ok", "not proved"]
    assert "no Linux wheel for aarch64" in results[1].obstacle
    assert len(stage.commands) == 1


def test_the_suite_is_told_its_places_inside(stage: Stage, wheels: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    prove(wheels, "arm", pytest_args=["-k", "tokenizer"])
    (words,) = stage.commands
    told = {words[at + 1]: words[at + 2] for at, word in enumerate(words) if word == "--setenv"}
    assert told["LLAMA_TEST_TRANSFORMER_MODEL"] == "/proof/material/LLAMA_TEST_TRANSFORMER_MODEL/small.gguf"
    assert told["LLAMA_TEST_WHEEL"] == f"/proof/material/LLAMA_TEST_WHEEL/{ARM_WHEEL}"
    assert told["LLAMA_TEST_PATIENCE"] == "20"
    inside = words[words.index("--") + 1 :]
    assert inside[:6] == ["/proof/environment/bin/python", "-I", "-B", "-m", "pytest", "/proof/suite"]
    assert inside[-5:] == ["-m", "not once_per_wheel", "--timeout=6000", "-k", "tokenizer"]
    assert not [word for word in inside if str(runner.SUITE) in word]


def test_a_complete_system_runs_the_whole_suite(stage: Stage, wheels: list[Path]) -> None:
    stage.systems = (msgspec.structs.replace(OLD, extent="whole"),)
    (result,) = prove(wheels)
    assert result.suite is not None
    assert result.suite.extent == "whole"
    assert "not once_per_wheel" not in stage.commands[0]


def test_an_emulated_system_runs_what_depends_on_the_processor(stage: Stage, wheels: list[Path]) -> None:
    stage.systems = (msgspec.structs.replace(OLD, extent="processor"),)
    (result,) = prove(wheels)
    assert result.suite is not None
    assert result.suite.extent == "processor"
    assert "every_processor and not once_per_wheel" in stage.commands[0]


def test_mirror_and_freshness_are_passed_on(stage: Stage, wheels: list[Path]) -> None:
    prove(wheels, "old", mirror="http://near/debian/", fresh=True)
    prove(wheels, "old")
    stage.systems = (msgspec.structs.replace(OLD, mirror="http://archive/debian"),)
    prove(wheels)
    assert stage.reserved == [("http://near/debian", True), (runner.table().mirror, False), ("http://archive/debian", False)]


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ("prepare", RightsMissingError("needs root", hint="sudo")),
        ("root", RootUnavailableError("no route", hint="later")),
        ("look", SystemUnfitError("no python3", hint="--fresh")),
        ("installed", SystemUnfitError("no kiwisolver", hint="--fresh")),
    ],
    ids=["rights", "mirror", "python", "packages"],
)
def test_what_is_no_fault_of_the_wheel_is_an_obstacle_and_other_systems_go_on(
    stage: Stage, wheels: list[Path], step: str, error: Exception
) -> None:
    stage.raises[step] = error
    results = prove(wheels)
    assert [result.verdict for result in results] == ["not proved", "not proved"]
    assert str(error) in results[0].obstacle
    assert "next: " in results[0].obstacle
    assert stage.commands == []


def test_a_wheel_that_does_not_install_failed(stage: Stage, wheels: list[Path]) -> None:
    stage.raises["installed"] = EnvironmentSetupError("not a supported wheel")
    (result,) = prove(wheels, "old")
    assert (result.verdict, result.faults) == ("FAILED", ("not a supported wheel",))


@pytest.mark.parametrize(("name", "value"), [("glibc", "2.36"), ("version", "3.9"), ("machine", "i686")])
def test_a_root_that_is_not_what_the_table_says_proves_nothing(stage: Stage, wheels: list[Path], name: str, value: str) -> None:
    stage.facts[name] = value
    (result,) = prove(wheels, "old")
    assert result.verdict == "not proved"
    assert f"{name} {value}, not " in result.obstacle
    stage.systems = (msgspec.structs.replace(OLD, glibc="", python=""),)
    assert prove(wheels, "old")[0].ok is (name != "machine")


def test_a_wheel_without_text_failed_though_its_suite_passed(stage: Stage, wheels: list[Path]) -> None:
    stage.texts = Answer(seconds=1.0, fault="was killed by SIGSEGV ()")
    (result,) = prove(wheels, "old")
    assert result.faults == ("gave no text: was killed by SIGSEGV ()",)
    assert not result.ok


@pytest.mark.parametrize(("refusal", "notes", "faults"), [(Refusal(said="too old"), 1, 0), (Refusal(said="", fault="took it"), 0, 1)])
def test_its_own_python_must_refuse(stage: Stage, wheels: list[Path], refusal: Refusal, notes: int, faults: int) -> None:
    stage.systems, stage.refusal = (msgspec.structs.replace(OLD, refused_python="3.9"),), refusal
    (result,) = prove(wheels)
    assert (len(result.notes), len(result.faults)) == (notes, faults)


def test_emulated_processors_must_choose_their_variant(stage: Stage, wheels: list[Path]) -> None:
    old, new = Processor(model="cortex-a53", variant="armv8.0_1"), Processor(model="neoverse-n1", variant="armv8.2_2")
    stage.systems = (msgspec.structs.replace(ARM, processors=(old, new)),)
    for model in ("cortex-a53", "neoverse-n1"):
        stage.answers[model] = Answer(variant="armv8.0_1", text=" 5, 6", seconds=1.0)
    (result,) = prove(wheels)
    assert [each.ok for each in result.processors] == [True, False]
    assert result.faults == ("as neoverse-n1: chose armv8.0_1, not armv8.2_2",)
    stage.systems = (msgspec.structs.replace(OLD, processors=(old,)),)
    assert prove(wheels)[0].processors == ()


def test_a_suite_that_died_failed(stage: Stage, wheels: list[Path]) -> None:
    stage.report, stage.code = "", -11
    (result,) = prove(wheels, "old")
    assert result.suite is not None
    assert "signal 11" in result.suite.failures[0].reason
    assert not result.ok
