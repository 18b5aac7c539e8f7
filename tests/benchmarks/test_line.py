from __future__ import annotations

import math

import pytest

from benchmarks.line import Line, Quantity, Target, at_least, at_most
from benchmarks.statistics import Figure


def line(value: float, target: Target | None, *, unit: str = "") -> Line:
    return Line(row="r", measured="m", figure=Figure(value=value, low=value, high=value), target=target, unit=unit)


@pytest.mark.parametrize(
    ("value", "target", "verdict"),
    [
        (0.98, at_least(0.98), "met"),
        (0.979, at_least(0.98), "missed"),
        (1.2, at_most(1.2), "met"),
        (1.21, at_most(1.2), "missed"),
        (-5.0, at_most(40.0, "ms"), "met"),
        (math.nan, at_most(1.2), "lost in noise"),
        (0.5, None, ""),
    ],
)
def test_the_verdict_is_in_words(value: float, target: Target | None, verdict: str) -> None:
    assert line(value, target).verdict == verdict


def test_what_failed_is_not_measured_whatever_its_target() -> None:
    assert Line(row="r", measured="m", target=at_least(1.0), failure="it broke").verdict == "not measured"


def test_targets_read_as_they_are_written() -> None:
    assert [str(at_least(0.98)), str(at_most(1.2)), str(at_most(40.0, "ms"))] == ["≥ 0.98", "≤ 1.20", "≤ +40 ms"]


def test_figures_show_their_quartiles_and_unit() -> None:
    shown = Line(row="r", measured="m", figure=Figure(value=1.0, low=0.9, high=1.1)).figure_text()
    assert shown == "1.000 (0.900 … 1.100)"
    assert line(12.34, None, unit="ms").figure_text() == "+12.3 ms (+12.3 … +12.3)"


@pytest.mark.parametrize(("value", "text"), [(0.3456, "0.35 s"), (27.35, "27.4 s"), (6993.2, "6993 s")])
def test_quantities_keep_the_digits_that_count(value: float, text: str) -> None:
    assert str(Quantity(value=value, unit="s")) == text
