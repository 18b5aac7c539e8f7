"""Norms of vectors: exact, and without NaN, whatever the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from llama_cpp._features.embedding.normalization import cosine_similarity, norm_mode, normalized

ROWS = arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(-(2.0**100), 2.0**100, width=32))


@given(ROWS, st.sampled_from([1, 2, 3, 6]))
def test_every_row_has_norm_one_or_is_zero(rows: Any, mode: int) -> None:
    made = normalized(rows, mode).astype(np.float64)
    norms = (np.abs(made) ** mode).sum(axis=1) ** (1 / mode)
    zero = ~rows.any(axis=1)
    assert np.isfinite(made).all()
    assert np.allclose(norms[~zero], 1.0, atol=1e-5)
    assert not made[zero].any()


@given(ROWS)
def test_mode_0_fills_the_range_of_int16(rows: Any) -> None:
    largest = np.abs(normalized(rows, 0)).max(axis=1)
    assert np.allclose(largest[rows.any(axis=1)], 32760.0, rtol=1e-5)


@given(ROWS)
def test_directions_stay(rows: Any) -> None:
    assert (np.sign(normalized(rows, 1)) * np.sign(rows) >= 0).all()
    assert np.array_equal(normalized(rows, -1), rows)


@pytest.mark.parametrize(("value", "mode"), [(True, 2), (False, -1), (None, -1), (0, 0), (2, 2), (6, 6), (-1, -1)])
def test_modes(value: Any, mode: int) -> None:
    assert norm_mode(value) == mode


@pytest.mark.parametrize("value", [-2, "2", 1.5])
def test_modes_that_make_no_sense(value: Any) -> None:
    with pytest.raises(ValueError, match="normalize"):
        norm_mode(value)


def test_cosine_similarity() -> None:
    found = cosine_similarity(np.array([[1, 0], [0, 2], [3, 3], [0, 0]], np.float32))
    half = float(np.sqrt(0.5))
    assert np.allclose(found, [[1, 0, half, 0], [0, 1, half, 0], [half, half, 1, 0], [0, 0, 0, 0]])
