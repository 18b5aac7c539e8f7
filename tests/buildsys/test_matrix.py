from __future__ import annotations

import json

import msgspec
import pytest

from buildsys import toolchains
from buildsys.cli import main
from buildsys.errors import UnknownBuildError
from buildsys.matrix import BuildRow, Matrix, rows, select, select_one
from buildsys.matrix.command import PIPED_WIDTH

CUDA = {"toolkit": "13.1", "architectures": ["75-real", "90-real", "90-virtual"], "requires": ["nvidia-cublas>=13.1,<14"]}
ROW = {
    "identifier": "linux_x86_64-cu131",
    "toolchain": "zig",
    "target": "x86_64-linux-gnu.2.28",
    "platform_tag": "manylinux_2_28_x86_64",
    "max_megabytes": 500.0,
    "cpu_variants": ["x64", "haswell"],
    "cuda": CUDA,
}
PLATFORM = {
    "toolchain": "zig",
    "target": "x86_64-linux-gnu.2.28",
    "platform_tag": "manylinux_2_28_x86_64",
    "cpu_variants": ["x64"],
    "runner": "ubuntu-24.04",
    "cibuildwheel": "cp312-manylinux_x86_64",
    "tests": [{"runner": "ubuntu-24.04", "python": "3.10"}],
}
STATED = {"identifier": "linux_x86_64-cpu", "max_megabytes": 15.0}


def test_every_row_names_a_toolchain_that_exists() -> None:
    assert {row.toolchain for row in rows()} <= set(toolchains.listed())


def test_every_system_is_proved_on_the_oldest_and_on_the_newest_python() -> None:
    environments = {(row.system, test.python) for row in rows() for test in row.tests}
    assert {(system, python) for system in ("linux", "windows", "macos") for python in ("3.10", "3.14")} <= environments
    assert all({test.python for test in row.tests} >= {"3.10", "3.14"} for row in rows())


def test_patterns_select_by_identifier_and_keep_each_row_once() -> None:
    chosen = select(["linux_*", "*-cpu", "linux_x86_64-cpu"])
    assert [row.identifier for row in chosen].count("linux_x86_64-cpu") == 1


def test_a_pattern_without_a_match_says_what_there_is() -> None:
    with pytest.raises(UnknownBuildError) as caught:
        select(["linux_x86_64-cpu", "plan9*"])
    assert "plan9*" in caught.value.message
    assert "linux_x86_64-cpu" in caught.value.hint


def test_one_row_is_not_several() -> None:
    assert select_one("linux_aarch64-cpu").machine == "aarch64"
    with pytest.raises(UnknownBuildError, match="matches"):
        select_one("linux_*")


@pytest.mark.parametrize(
    ("field", "value", "word"),
    [
        ("identifier", "linux_x86_64-cpu", "its toolkit cu131"),
        ("identifier", "linux_x86_64-cuda13", "accelerator"),
        ("identifier", "plan9_x86_64-cpu", "identifier"),
        ("cuda", None, "no CUDA"),
        ("cuda", {**CUDA, "toolkit": "13.2"}, "cu132"),
        ("cuda", {**CUDA, "toolkit": "13"}, "release"),
        ("cuda", {**CUDA, "architectures": ["75-real", "90-real"]}, "end with PTX"),
        ("cpu_variants", ["x64", "x64"], "twice"),
        ("typo", 1, "typo"),
    ],
)
def test_a_row_that_contradicts_itself_is_refused(field: str, value: object, word: str) -> None:
    assert msgspec.convert(ROW, type=BuildRow).local_version == "cu131"
    with pytest.raises(msgspec.ValidationError, match=word):
        msgspec.convert({**ROW, field: value}, type=BuildRow)


def test_a_build_takes_from_its_platform_what_it_does_not_say() -> None:
    (row,) = msgspec.convert({"platform": {"linux_x86_64": PLATFORM}, "build": [STATED]}, type=Matrix).rows()
    assert (row.toolchain, row.cpu_variants, row.tests[0].python) == ("zig", ("x64",), "3.10")


@pytest.mark.parametrize(
    ("platforms", "builds", "word"),
    [
        ({"linux_x86_64": PLATFORM}, [STATED, STATED], "share"),
        ({"linux_aarch64": PLATFORM}, [STATED], "no \\[platform\\]"),
        ({"linux_x86_64": PLATFORM}, [{**STATED, "identifier": "linux_x86_64-cu131"}], "its toolkit no CUDA"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(platforms: object, builds: object, word: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=word):
        msgspec.convert({"platform": platforms, "build": builds}, type=Matrix)


def test_only_cuda_rows_carry_a_local_version() -> None:
    assert select_one("linux_x86_64-cu131").local_version == "cu131"
    assert all(row.local_version == (row.accelerator if row.cuda else "") for row in rows())


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["matrix", *arguments]) == 0
    return capsys.readouterr().out


def test_the_command_prints_rows_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = json.loads(printed(capsys, "--json", "linux_x86_64-cpu"))
    assert row["identifier"] == "linux_x86_64-cpu"
    assert len(row["cpu_variants"]) == 14


def test_the_table_has_a_line_per_row_and_cuts_nothing_off(capsys: pytest.CaptureFixture[str]) -> None:
    heading, *lines = printed(capsys).splitlines()
    assert [line.split()[0] for line in lines] == [row.identifier for row in rows()]
    starts = {heading.index(name) for name in ("accelerator", "toolchain", "platform", "built")}
    for row, line in zip(rows(), lines, strict=True):
        assert len(line.rstrip()) <= PIPED_WIDTH
        assert {row.toolchain, row.platform_tag, row.runner} <= set(line.split())
        assert all(line[start - 1] == " " != line[start] for start in starts), "the columns are aligned"


def test_a_job_matrix_has_an_entry_per_row(capsys: pytest.CaptureFixture[str]) -> None:
    jobs = json.loads(printed(capsys, "--github", "builds"))["include"]
    assert [job["identifier"] for job in jobs] == [row.identifier for row in rows()]
    assert {job["identifier"]: job["runner"] for job in jobs}["macos_arm64-metal"].startswith("macos-")


def test_a_job_matrix_of_tests_has_an_entry_per_row_and_environment(capsys: pytest.CaptureFixture[str]) -> None:
    jobs = json.loads(printed(capsys, "--github", "tests"))["include"]
    assert len(jobs) == sum(len(row.tests) for row in rows())
    assert {(job["identifier"], job["python"]) for job in jobs} >= {("windows_amd64-cu131", "3.10"), ("windows_amd64-cu131", "3.14")}


def test_a_job_matrix_of_gpus_has_the_cuda_wheels_of_linux(capsys: pytest.CaptureFixture[str]) -> None:
    jobs = json.loads(printed(capsys, "--github", "gpus"))["include"]
    assert {job["identifier"] for job in jobs} == {row.identifier for row in rows() if row.cuda and row.system == "linux"}
    assert json.loads(printed(capsys, "--github", "gpus", "*-cpu")) == {"include": []}


def test_several_patterns_may_come_in_one_argument(capsys: pytest.CaptureFixture[str]) -> None:
    jobs = json.loads(printed(capsys, "--github", "builds", "linux_aarch64-* macos_*"))["include"]
    assert [job["identifier"] for job in jobs] == ["linux_aarch64-cpu", "macos_arm64-metal", "macos_x86_64-cpu"]


def test_a_job_matrix_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "--github", "builds").count("\n") == 1
