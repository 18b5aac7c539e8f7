"""A line of the result: what was measured, against what, the figure, and whether the target is met."""

from __future__ import annotations

import math
from dataclasses import dataclass

from benchmarks.statistics import Figure


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """A number with its unit."""

    value: float
    unit: str

    def __str__(self) -> str:
        """Three or four significant digits."""
        digits = 0 if self.value >= 1000 else 1 if self.value >= 10 else 2  # noqa: PLR2004 - the scale of a readable number
        return f"{self.value:.{digits}f} {self.unit}"


@dataclass(frozen=True, kw_only=True)
class Target:
    """A bound on the figure. `unit` is empty where the figure is a ratio."""

    relation: str
    bound: float
    unit: str = ""

    def __str__(self) -> str:
        """As performance targets are written: `≥ 0.98`, `≤ +40 ms`."""
        return f"{self.relation} {self.bound:+g} {self.unit}" if self.unit else f"{self.relation} {self.bound:.2f}"

    def met(self, value: float) -> bool:
        """Whether the value is on the right side."""
        return value >= self.bound if self.relation == "≥" else value <= self.bound


def at_least(bound: float) -> Target:
    """A ratio of no less."""
    return Target(relation="≥", bound=bound)


def at_most(bound: float, unit: str = "") -> Target:
    """A ratio of no more, or a difference in `unit`."""
    return Target(relation="≤", bound=bound, unit=unit)


@dataclass(frozen=True, kw_only=True)
class Line:
    """One comparison. Without a target it only informs; with a `failure` there is no figure."""

    row: str
    measured: str
    value: Quantity | None = None
    against: str = ""
    other: Quantity | None = None
    figure: Figure | None = None
    unit: str = ""
    target: Target | None = None
    failure: str = ""
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """In words; empty where nothing was promised."""
        if self.failure:
            return "not measured"
        if self.figure is None or self.target is None:
            return ""
        if math.isnan(self.figure.value):
            return "lost in noise"
        return "met" if self.target.met(self.figure.value) else "missed"

    def figure_text(self) -> str:
        """The figure with its quartiles."""
        if self.figure is None or math.isnan(self.figure.value):
            return ""
        shown = [f"{number:+.1f}" if self.unit else f"{number:.3f}" for number in (self.figure.value, self.figure.low, self.figure.high)]
        return f"{shown[0]}{' ' + self.unit if self.unit else ''} ({shown[1]} … {shown[2]})"
