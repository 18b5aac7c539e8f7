from __future__ import annotations

import msgspec
import pytest

from buildsys import toolchains
from buildsys.cli import build_parser, main
from buildsys.matrix import BuildRow, LocalBuild, rows
from buildsys.matrix.platforms import in_words
from buildsys.matrix.support import PAGE, local_command, support_page
from buildsys.project import ROOT

LOCAL = [row for row in rows() if row.local]


def test_the_committed_page_is_what_the_matrix_gives(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", "--markdown"]) == 0
    assert (ROOT / PAGE).read_text(encoding="utf-8") == capsys.readouterr().out, (
        "run `python -m buildsys matrix --markdown > docs/support.md`"
    )


def test_every_row_stands_in_the_overview_and_in_the_pipeline() -> None:
    page = support_page(rows())
    for row in rows():
        lines = [line for line in page.splitlines() if line.startswith(f"| `{row.identifier}` |")]
        assert len(lines) == (3 if row.local else 2)
        assert f"`{row.runner}`" in lines[-1]


@pytest.mark.parametrize("row", LOCAL, ids=lambda row: row.identifier)
def test_a_local_command_is_one_that_exists(row: BuildRow) -> None:
    command = local_command(row)
    program, arguments = command.split()[:3], command.split()[3:]
    assert program == ["python", "-m", "buildsys"]
    args = build_parser("build").parse_args(arguments)
    assert args.patterns == [row.identifier]
    assert not args.toolchain or args.toolchain in toolchains.listed()


def test_a_proof_that_nobody_knows_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="hope"):
        msgspec.convert({"proof": "hope"}, type=LocalBuild)


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        ("manylinux_2_28_aarch64", "Linux aarch64, glibc 2.28 or newer"),
        ("macosx_14_0_arm64", "macOS 14 or newer, Apple silicon"),
        ("macosx_14_0_x86_64", "macOS 14 or newer, Intel"),
        ("win_amd64", "Windows x86_64"),
        ("plan9_mips", "plan9_mips"),
    ],
)
def test_platforms_are_named_in_words(tag: str, words: str) -> None:
    assert in_words(tag) == words
