"""The guide's page on choosing a wheel states what the data says."""

from __future__ import annotations

import re

import pytest

from buildsys.index.cuda import gpus, minimum_driver, release_driver
from buildsys.index.distribution import folder_of
from buildsys.matrix import CudaBuild, rows
from buildsys.project import ROOT

GUIDE = (ROOT / "docs" / "guide" / "which-wheel.md").read_text(encoding="utf-8")
RELEASES = {folder_of(row): row.cuda for row in rows() if row.cuda}


@pytest.mark.parametrize(("folder", "cuda"), RELEASES.items())
def test_the_drivers_table_has_each_cuda_release(folder: str, cuda: CudaBuild) -> None:
    (line,) = re.findall(rf"^\| `{folder}` \| (.+) \|$", GUIDE, re.MULTILINE)
    minimum, generations = minimum_driver(cuda.toolkit), [words.split(":")[0] for words in gpus(cuda)]
    assert line.split(" | ") == [minimum.linux, minimum.windows, f"{generations[0]} to {generations[-1]}"]


@pytest.mark.parametrize("cuda", RELEASES.values(), ids=lambda cuda: cuda.toolkit)
def test_the_driver_for_later_gpus_is_named(cuda: CudaBuild) -> None:
    driver = release_driver(cuda.toolkit)
    assert driver
    assert f"{driver.linux} for {cuda.toolkit}" in " ".join(GUIDE.split())


def test_no_folder_is_named_that_the_matrix_has_not() -> None:
    named = set(re.findall(r"`(cu\d+)`", GUIDE))
    assert named == set(RELEASES)


def test_gpus_of_one_generation_stand_together_and_an_unknown_one_by_its_number() -> None:
    cuda = CudaBuild(toolkit="13.1", architectures=("80-real", "86-real", "107-real", "107-virtual"), requires=())
    assert gpus(cuda) == ("Ampere: A100, RTX 30, A10, A40", "others: compute capability 10.7")
