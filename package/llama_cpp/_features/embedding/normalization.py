"""Norms of embedding vectors, by the numbers that llama.cpp's own tools use for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

NORM_MODE_NONE = -1
NORM_MODE_MAX_INT16 = 0
NORM_MODE_TAXICAB = 1
NORM_MODE_EUCLIDEAN = 2
NORM_MODE_PNORM = 6

_INT16_RANGE = 32760.0


def norm_mode(value: object) -> int:
    """`normalize` as a mode: True is Euclidean, False none. Raises ValueError for anything but -1 or more."""
    if isinstance(value, bool | np.bool_):
        return NORM_MODE_EUCLIDEAN if value else NORM_MODE_NONE
    if value is None:
        return NORM_MODE_NONE
    if not hasattr(value, "__index__") or int(value.__index__()) < NORM_MODE_NONE:
        raise ValueError(f"normalize must be a bool, -1 (none), 0 (to the range of int16), or the p of a p-norm, not {value!r}")
    return int(value.__index__())


def normalized(rows: NDArray[np.float32], mode: int) -> NDArray[np.float32]:
    """Rows of shape (n, width) scaled to norm 1 by `mode`; to a largest magnitude of 32760 by mode 0. Zero stays zero."""
    if mode == NORM_MODE_NONE or not rows.size:
        return rows
    magnitudes = np.abs(rows.astype(np.float64))
    if mode == NORM_MODE_MAX_INT16:
        norms = magnitudes.max(axis=-1, keepdims=True) / _INT16_RANGE
    elif mode == NORM_MODE_TAXICAB:
        norms = magnitudes.sum(axis=-1, keepdims=True)
    else:
        largest = magnitudes.max(axis=-1, keepdims=True)  # taken out, so that no power overflows
        scaled = np.divide(magnitudes, largest, out=np.zeros_like(magnitudes), where=largest > 0)
        norms = largest * (scaled**mode).sum(axis=-1, keepdims=True) ** (1.0 / mode)
    scaled_rows: NDArray[np.float64] = np.divide(rows, norms, out=np.zeros_like(rows, dtype=np.float64), where=norms > 0)
    return scaled_rows.astype(np.float32)


def cosine_similarity(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """The similarity of each row with each other, shape (n, n); 0 with a zero row."""
    unit = normalized(rows, NORM_MODE_EUCLIDEAN)
    similarity: NDArray[np.float32] = unit @ unit.T
    return similarity
