"""`cpu_moe` and `n_cpu_moe` say where the experts' tensors lie; what is computed with them stays the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from rig import material
from rig.placement import Placement, place

if TYPE_CHECKING:
    from pathlib import Path

PROMPT = "the cat in the hat"
CPU_ONLY = {"n_gpu_layers": 0}
BLOCKS = 4


@pytest.fixture(scope="module")
def placements(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Placement]:
    settings = {
        "plain": CPU_ONLY,
        "all": {**CPU_ONLY, "cpu_moe": True},
        "two": {**CPU_ONLY, "n_cpu_moe": 2},
        "more than there are": {**CPU_ONLY, "n_cpu_moe": 99},
    }
    folder: Path = tmp_path_factory.mktemp("experts")
    return dict(zip(settings, place(material.model(material.SYNTH_MIXTURE), list(settings.values()), folder, prompt=PROMPT), strict=True))


def blocks_with_moved_experts(placement: Placement) -> dict[int, int]:
    """Number of tensors that were moved, by block; they are experts' tensors, and on the CPU."""
    counts: dict[int, int] = {}
    for tensor, buffer in placement.overridden.items():
        match = re.fullmatch(r"blk\.(\d+)\.ffn_(gate|up|down)_exps\.weight", tensor)
        assert match, tensor
        assert buffer.startswith("CPU"), buffer
        counts[int(match[1])] = counts.get(int(match[1]), 0) + 1
    return counts


@pytest.mark.every_processor
def test_nothing_is_moved_unless_asked_for(placements: dict[str, Placement]) -> None:
    assert placements["plain"].overridden == {}


@pytest.mark.parametrize(("way", "blocks"), [("all", BLOCKS), ("two", 2), ("more than there are", BLOCKS)])
def test_the_experts_of_the_first_blocks_are_moved(placements: dict[str, Placement], way: str, blocks: int) -> None:
    assert blocks_with_moved_experts(placements[way]) == dict.fromkeys(range(blocks), 3)


@pytest.mark.parametrize("way", ["all", "two", "more than there are"])
@pytest.mark.every_processor
def test_on_a_cpu_they_change_nothing(placements: dict[str, Placement], way: str) -> None:
    assert placements[way].text == placements["plain"].text
    assert np.array_equal(placements[way].logits, placements["plain"].logits)
