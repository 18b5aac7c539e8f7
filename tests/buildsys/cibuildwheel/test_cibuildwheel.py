"""The options of each row, as cibuildwheel itself understands them."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from buildsys import cli
from buildsys.cibuildwheel import command, options
from buildsys.errors import CommandFailedError
from buildsys.matrix import BuildRow, rows, select_one
from buildsys.project import ROOT

pytest.importorskip("cibuildwheel", reason="cibuildwheel needs Python 3.11")

ROWS = pytest.mark.parametrize("row", rows(), ids=lambda row: row.identifier)


def identifiers(row: BuildRow) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "cibuildwheel", "--only", row.cibuildwheel, "--print-build-identifiers"]
    return subprocess.run(words, cwd=ROOT, env={**os.environ, **options(row)}, capture_output=True, text=True, check=False)


@ROWS
def test_cibuildwheel_builds_exactly_the_identifier_of_the_row(row: BuildRow) -> None:
    answer = identifiers(row)
    assert answer.stdout.split() == [row.cibuildwheel], answer.stderr
    assert answer.returncode == 0


def test_an_identifier_that_cibuildwheel_does_not_know_is_noticed() -> None:
    answer = identifiers(msgspec.structs.replace(rows()[0], cibuildwheel="cp38-manylinux_x86_64"))
    assert answer.stdout.split() != ["cp38-manylinux_x86_64"]


@ROWS
def test_cibuildwheel_reads_the_options_as_they_are_meant(row: BuildRow, monkeypatch: pytest.MonkeyPatch) -> None:
    from cibuildwheel.options import CommandLineArguments, compute_options  # noqa: PLC0415 - not on Python 3.10

    monkeypatch.chdir(ROOT)
    arguments = CommandLineArguments.defaults()
    arguments.only = row.cibuildwheel
    read = compute_options(platform=row.system, command_line_arguments=arguments, env=options(row))
    build = read.build_options(row.cibuildwheel)
    assert (build.build_frontend.name, *build.build_frontend.args) == ("pip", "--no-build-isolation")
    assert f"buildsys compile {row.identifier} --output build/native/{row.identifier}" in build.before_build
    assert build.config_settings == f"cmake.define.LLAMA_CPP_PREBUILT={{project}}/build/native/{row.identifier}"
    assert build.environment.as_dictionary({})["LLAMA_CPP_BUILD"] == row.identifier
    assert not build.test_command, "the suite runs elsewhere, on more than one Python"
    if row.container:
        assert build.manylinux_images is not None
        assert row.container in build.manylinux_images[row.machine]


@ROWS
def test_the_commands_that_cibuildwheel_runs_exist(row: BuildRow) -> None:
    stated = options(row)
    placed = stated["CIBW_REPAIR_WHEEL_COMMAND"].format(wheel="a.whl", dest_dir="out")
    words = [shlex.split(part) for part in (*stated["CIBW_BEFORE_BUILD"].split(" && "), placed)]
    ours = [line[3:] for line in words if line[:3] == ["python", "-m", "buildsys"]]
    assert [line[0] for line in ours] == ["compile", "repair"]
    for line in ours:
        assert cli.build_parser(line[0]).parse_args(line).command == line[0]


def test_a_mac_wheel_is_linked_for_the_release_that_its_tag_names() -> None:
    stated = options(select_one("macos_arm64-metal"))["CIBW_ENVIRONMENT"]
    assert "MACOSX_DEPLOYMENT_TARGET=14.0" in stated
    assert "macosx-14.0-arm64" in stated


def test_git_trusts_the_copied_project_in_a_container_only() -> None:
    assert "safe.directory" in options(select_one("linux_x86_64-cpu"))["CIBW_ENVIRONMENT"]
    assert "safe.directory" not in options(select_one("windows_amd64-cpu"))["CIBW_ENVIRONMENT"]


def test_the_command_runs_cibuildwheel_with_the_options_of_the_row(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls = []

    def run(words: list[str], *, env: dict[str, str], **_: object) -> subprocess.CompletedProcess[str]:
        calls.append((words, env))
        return subprocess.CompletedProcess(words, 0)

    monkeypatch.setattr(command.subprocess, "run", run)
    assert cli.main(["cibuildwheel", "linux_aarch64-cpu", "--output", str(tmp_path)]) == 0
    ((words, env),) = calls
    assert words[words.index("--only") + 1] == "cp312-manylinux_aarch64"
    assert words[words.index("--output-dir") + 1] == str(tmp_path)
    assert env.items() >= options(select_one("linux_aarch64-cpu")).items()


def test_a_failed_build_is_a_failed_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command.subprocess, "run", lambda words, **_: subprocess.CompletedProcess(words, 3))
    assert cli.main(["cibuildwheel", "linux_aarch64-cpu"]) == CommandFailedError.exit_code
    assert "ended with 3 on linux_aarch64-cpu" in capsys.readouterr().err


def test_the_options_can_be_read_without_a_build(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cibuildwheel", "macos_x86_64-cpu", "--print"]) == 0
    printed = dict(line.split("=", 1) for line in capsys.readouterr().out.splitlines())
    assert printed == options(select_one("macos_x86_64-cpu"))
