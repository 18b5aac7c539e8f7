from __future__ import annotations

import pytest

from buildsys.matrix import BuildRow, rows
from buildsys.matrix.architectures import check, in_words, is_specific, numbers

CUDA = [row for row in rows() if row.cuda]


@pytest.mark.parametrize("stated", ["75-virtual", "75-real,75-virtual", "80-real,90-virtual", "90-real,120-real,90-virtual,100-virtual"])
def test_a_list_may_be_short_and_its_ptx_higher_than_its_machine_code(stated: str) -> None:
    parts = stated.split(",")
    check(parts)
    assert numbers(parts, "virtual")


@pytest.mark.parametrize(
    ("stated", "word"),
    [
        ("", "one at least"),
        ("sm_75", "NN-real or NN-virtual: sm_75"),
        ("75", "NN-real or NN-virtual"),
        ("75-real,90-real", "end with PTX"),
        ("90-real,75-real,90-virtual", "ascending"),
        ("75-real,75-real,75-virtual", "ascending"),
        ("75-virtual,90-real", "and then PTX"),
        ("75-real,90-real,75-virtual", "later GPUs accept: 90-virtual"),
        ("90-real,120-real,75-virtual", "later GPUs accept: 90-virtual"),
        ("90-real,120-real,120-virtual", "ggml compiles it as 120a; end with a lower one"),
    ],
)
def test_a_list_that_leaves_gpus_without_code_is_refused(stated: str, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        check([part for part in stated.split(",") if part])


@pytest.mark.parametrize("row", CUDA, ids=lambda row: row.identifier)
def test_a_row_has_machine_code_from_turing_up_and_ptx_for_every_gpu_to_come(row: BuildRow) -> None:
    assert row.cuda is not None
    stated = row.cuda.architectures
    assert {75, 80, 86, 89, 90} <= set(numbers(stated, "real"))
    assert not is_specific(numbers(stated, "virtual")[-1])


@pytest.mark.parametrize(
    ("stated", "words"),
    [("75-virtual", "sm_75"), ("75-real,75-virtual", "sm_75"), ("61-real,120-real,100-virtual", "sm_61 to 120")],
)
def test_a_list_is_said_by_its_extremes(stated: str, words: str) -> None:
    assert in_words(stated.split(",")) == words
