"""Taking repetitions in turn: A B C A B C …, one at a time. What a repetition is, its caller says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


class MeasurementError(Exception):
    """A contestant could not do what it was asked; the message is its reason."""


@dataclass(kw_only=True)
class Series(Generic[T]):
    """All repetitions of one contestant, in order; after a failure there are no more."""

    readings: list[T] = field(default_factory=list)
    failure: str = ""


def interleave(turns: Mapping[str, Callable[[], T]], *, rounds: int, before_each: Callable[[str, int], None]) -> dict[str, Series[T]]:
    """Run every turn once per round, in the given order; one that fails drops out and the others go on."""
    series: dict[str, Series[T]] = {name: Series() for name in turns}
    for number in range(rounds):
        for name, turn in turns.items():
            if series[name].failure:
                continue
            before_each(name, number)
            try:
                series[name].readings.append(turn())
            except MeasurementError as error:
                series[name].failure = str(error)
    return series
