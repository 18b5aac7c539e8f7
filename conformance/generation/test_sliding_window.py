"""A model with sliding-window attention: what has left the window is never taken for what is still there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rig import material
from rig.generation import GREEDY, text

from llama_cpp import Llama

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.once_per_wheel

N_TOKENS = 8


def counting(last: int) -> str:
    """A prompt whose continuation is certain, and which loses its thread when what stands just before is missing."""
    return ", ".join(str(number) for number in range(1, last + 1)) + ","


@pytest.fixture(scope="module", params=[True, False], ids=["kept in full", "window only"])
def gemma(request: pytest.FixtureRequest) -> Iterator[Llama]:
    path = material.model(material.SLIDING_WINDOW)
    with Llama(
        str(path), n_ctx=1024, swa_full=request.param, n_batch=64, n_ubatch=64, n_threads=2, n_threads_batch=2, verbose=False
    ) as llama:
        yield llama


@pytest.mark.parametrize("numbers", [(200, 30), (200, 195), (30, 200)], ids=["back beyond the window", "back within the window", "onward"])
def test_text_after_reuse_is_that_from_scratch(gemma: Llama, numbers: tuple[int, int]) -> None:
    first, second = numbers
    assert len(gemma.tokenize(counting(200).encode())) > 512 + N_TOKENS, "longer than the window"
    gemma.reset()
    gemma.create_completion(counting(first), max_tokens=2, **GREEDY)
    produced = text(gemma.create_completion(counting(second), max_tokens=N_TOKENS, **GREEDY))
    assert produced.startswith(f" {second + 1},"), produced
