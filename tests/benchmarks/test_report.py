from __future__ import annotations

import io
import json
import math
from pathlib import Path

from rich.console import Console

from benchmarks.line import Line, Quantity, at_least
from benchmarks.report import print_report, write_json
from benchmarks.statistics import Figure

LINES = (
    Line(
        row="greedy",
        measured="create_completion",
        value=Quantity(value=285.0, unit="tok/s"),
        against="bare loop",
        other=Quantity(value=290.5, unit="tok/s"),
        figure=Figure(value=0.981, low=0.97, high=0.99),
        target=at_least(0.98),
    ),
    Line(
        row="greedy", measured="create_completion", against="a peer of a rather long name " * 4, target=at_least(1.25), failure="no network"
    ),
    Line(row="growth", measured="share", figure=Figure(value=math.nan, low=math.nan, high=math.nan), notes=("ended early",)),
)


def printed(width: int) -> list[str]:
    sink = io.StringIO()
    print_report({"machine": "[a] CPU", "rounds": "7"}, LINES, Console(file=sink, width=width, soft_wrap=True))
    return sink.getvalue().splitlines()


def test_the_table_is_aligned_and_names_each_row_once() -> None:
    lines = printed(width=200)
    table = [line for line in lines if "create_completion" in line]
    assert table[0].startswith("greedy")
    assert table[1].startswith("      ")
    assert len({line.index("create_completion") for line in table}) == 1
    assert len({line.index("≥") for line in table}) == 1


def test_no_cell_is_cut_on_a_narrow_terminal() -> None:
    assert printed(width=40) == printed(width=200)
    assert not any("…" in line.replace("0.970 … 0.990", "") for line in printed(width=40))


def test_verdicts_reasons_and_notes_are_told() -> None:
    text = "\n".join(printed(width=200))
    assert "met" in text
    assert "not measured" in text
    assert "greedy: no network" in text
    assert "growth: ended early" in text


def test_facts_are_shown_as_they_are() -> None:
    assert printed(width=200)[0] == "machine  [a] CPU"


def test_json_has_numbers_and_the_verdict(tmp_path: Path) -> None:
    target = tmp_path / "new" / "bench.json"
    write_json(target, {"rounds": "7"}, LINES)
    read = json.loads(target.read_text(encoding="utf-8"))
    assert read["facts"] == {"rounds": "7"}
    assert read["lines"][0]["figure"]["value"] == 0.981
    assert read["lines"][0]["verdict"] == "met"
    assert read["lines"][2]["figure"]["value"] is None
