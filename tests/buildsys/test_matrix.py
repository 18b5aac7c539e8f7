from __future__ import annotations

import json

import msgspec
import pytest

from buildsys.cli import main
from buildsys.errors import UnknownBuildError
from buildsys.matrix import BuildRow, Matrix, rows, select
from buildsys.toolchains import toolchains

ROW = {
    "identifier": "linux_x86_64-cu131",
    "system": "linux",
    "machine": "x86_64",
    "accelerator": "cu131",
    "toolchain": "zig",
    "target": "x86_64-linux-gnu.2.28",
    "platform_tag": "manylinux_2_28_x86_64",
    "max_megabytes": 500.0,
    "cpu_variants": ["x64", "haswell"],
}


def test_every_row_names_a_toolchain_that_exists() -> None:
    assert {row.toolchain for row in rows()} <= set(toolchains())


def test_patterns_select_by_identifier_and_keep_each_row_once() -> None:
    chosen = select(["linux_*", "*-cpu", "linux_x86_64-cpu"])
    assert [row.identifier for row in chosen].count("linux_x86_64-cpu") == 1


def test_a_pattern_without_a_match_says_what_there_is() -> None:
    with pytest.raises(UnknownBuildError) as caught:
        select(["linux_x86_64-cpu", "plan9*"])
    assert "plan9*" in caught.value.message
    assert "linux_x86_64-cpu" in caught.value.hint


@pytest.mark.parametrize(
    ("field", "value", "word"),
    [
        ("identifier", "linux_x86_64-cpu", "identifier"),
        ("accelerator", "cuda13", "identifier"),
        ("cpu_variants", ["x64", "x64"], "twice"),
        ("typo", 1, "typo"),
    ],
)
def test_a_row_that_contradicts_itself_is_refused(field: str, value: object, word: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=word):
        msgspec.convert({**ROW, field: value}, type=BuildRow)


def test_two_rows_of_one_name_are_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="share"):
        msgspec.convert({"build": [ROW, ROW]}, type=Matrix)


def test_only_cuda_rows_carry_a_local_version() -> None:
    cuda = msgspec.convert(ROW, type=BuildRow)
    cpu = msgspec.convert({**ROW, "identifier": "linux_x86_64-cpu", "accelerator": "cpu"}, type=BuildRow)
    assert (cuda.local_version, cpu.local_version) == ("cu131", "")


def test_the_command_prints_rows_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", "--json", "linux_x86_64-cpu"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["identifier"] == "linux_x86_64-cpu"
    assert len(row["cpu_variants"]) == 14
