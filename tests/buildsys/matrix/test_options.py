from __future__ import annotations

import argparse

import pytest

from buildsys.errors import UnknownBuildError
from buildsys.matrix import rows, select_one
from buildsys.matrix.options import add_row_options, customised, customised_rows


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_row_options(parser)
    return parser.parse_args(words)


def test_without_options_the_rows_are_the_files() -> None:
    assert customised_rows(parsed()) == rows()
    assert customised(rows()[0], parsed()) == rows()[0]


def test_architectures_replace_those_of_cuda_rows_and_touch_no_other() -> None:
    changed = {row.identifier: row for row in customised_rows(parsed("--architectures", "80-real,80-virtual"))}
    for row in rows():
        if row.cuda is None:
            assert changed[row.identifier] == row
        else:
            cuda = changed[row.identifier].cuda
            assert cuda is not None
            assert cuda.architectures == ("80-real", "80-virtual")
            assert cuda.requires == row.cuda.requires


def test_architectures_of_a_cpu_build_are_refused() -> None:
    with pytest.raises(UnknownBuildError, match="no CUDA build"):
        customised(select_one("linux_x86_64-cpu"), parsed("--architectures", "80-virtual"))


@pytest.mark.parametrize("text", ["80", "80-real", "90-virtual,80-virtual", ",", "sm_80-virtual", "80-real;90-virtual"])
def test_a_list_that_no_row_could_have_is_refused(text: str) -> None:
    with pytest.raises(UnknownBuildError, match="--architectures"):
        customised(select_one("linux_x86_64-cu131"), parsed("--architectures", text))


def test_a_newer_platform_tag_is_accepted_on_request_only() -> None:
    row = select_one("linux_x86_64-cu131")
    assert customised(row, parsed("--platform-tag", "manylinux_2_36_x86_64")).platform_tag == "manylinux_2_36_x86_64"
