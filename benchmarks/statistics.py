"""Figures from repeated measurements: medians, and ratios and differences taken round by round."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A median with the quartiles around it."""

    value: float
    low: float
    high: float


def figure(values: Sequence[float]) -> Figure:
    """Median and quartiles of at least one value."""
    if not values:
        raise ValueError("no values to summarise")
    if len(values) == 1:
        return Figure(value=values[0], low=values[0], high=values[0])
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return Figure(value=middle, low=low, high=high)


def paired(first: Sequence[float], second: Sequence[float], combine: Callable[[float, float], float]) -> Figure:
    """Combine the two values of each round, then summarise: a drift that lasts longer than a round cancels out."""
    return figure([combine(a, b) for a, b in zip(first, second, strict=True)])


def ratio(first: Sequence[float], second: Sequence[float]) -> Figure:
    """First over second, round by round."""
    return paired(first, second, lambda a, b: a / b)


def difference(first: Sequence[float], second: Sequence[float]) -> Figure:
    """First less second, round by round."""
    return paired(first, second, lambda a, b: a - b)
