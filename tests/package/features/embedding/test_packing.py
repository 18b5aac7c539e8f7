"""Which inputs go together: all of them once, in order, within the limits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._features.embedding.packing import packs


@given(st.lists(st.integers(0, 12), max_size=40), st.integers(1, 20), st.integers(1, 5))
def test_packs(lengths: list[int], tokens: int, sequences: int) -> None:
    made = list(packs(lengths, tokens=tokens, sequences=sequences))
    assert [index for pack in made for index in pack] == [index for index, length in enumerate(lengths) if length]
    for pack in made:
        assert 1 <= len(pack) <= sequences
        assert len(pack) == 1 or sum(lengths[index] for index in pack) <= tokens


def test_what_fits_goes_together() -> None:
    assert list(packs([3, 3, 3, 9, 1], tokens=6, sequences=8)) == [[0, 1], [2], [3], [4]]
