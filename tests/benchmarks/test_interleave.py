from __future__ import annotations

from collections.abc import Callable

from benchmarks.interleave import MeasurementError, interleave


def turn(journal: list[str], name: str, *, fails_at: int = -1) -> Callable[[], int]:
    def act() -> int:
        count = journal.count(name)
        journal.append(name)
        if count == fails_at:
            raise MeasurementError(f"{name} broke")
        return count

    return act


def test_contestants_take_turns() -> None:
    journal: list[str] = []
    series = interleave({name: turn(journal, name) for name in "AB"}, rounds=3, before_each=lambda _name, _number: None)
    assert "".join(journal) == "ABABAB"
    assert [each.readings for each in series.values()] == [[0, 1, 2], [0, 1, 2]]


def test_everybody_is_announced_before_the_turn_begins() -> None:
    journal: list[str] = []
    interleave({name: turn(journal, name) for name in "AB"}, rounds=2, before_each=lambda name, number: journal.append(f"{number}{name}:"))
    assert "".join(journal) == "0A:A0B:B1A:A1B:B"


def test_one_that_fails_drops_out_with_its_reason_and_the_others_go_on() -> None:
    journal: list[str] = []
    turns = {"A": turn(journal, "A", fails_at=1), "B": turn(journal, "B")}
    series = interleave(turns, rounds=3, before_each=lambda _name, _number: None)
    assert "".join(journal) == "ABABB"
    assert series["A"].failure == "A broke"
    assert series["B"].readings == [0, 1, 2]
