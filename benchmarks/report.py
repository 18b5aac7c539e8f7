"""The result for people, as one aligned table, and for programs, as JSON."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.line import Line

WIDTH = 500  # wide enough that no cell is cut, whatever the terminal
HEADINGS = ("row", "measured", "", "against", "", "figure (quartiles)", "target", "")


def print_report(facts: Mapping[str, str], lines: Sequence[Line], console: Console | None = None) -> None:
    """The facts, the table, and then what stands behind single lines."""
    out = console or Console(highlight=False, soft_wrap=True)
    width = max(map(len, facts), default=0)
    for name, value in facts.items():
        out.print(f"{name:<{width}}  {value}", markup=False)
    out.print()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="right" if index in (2, 4) else "left", no_wrap=True)
    previous = ""
    for line in lines:
        table.add_row(line.row if line.row != previous else "", *_cells(line))
        previous = line.row
    Console(file=out.file, width=WIDTH, highlight=False).print(table)
    for line in lines:
        for note in ([line.failure] if line.failure else []) + list(line.notes):
            out.print(f"{line.row}: {note}", markup=False)


def _cells(line: Line) -> tuple[str, ...]:
    value, other = (str(each) if each else "" for each in (line.value, line.other))
    return line.measured, value, line.against, other, line.figure_text(), str(line.target or ""), line.verdict


def as_json(facts: Mapping[str, str], lines: Sequence[Line]) -> dict[str, Any]:
    """Everything that the table says, with numbers as numbers; what is not a number is null."""
    return {"facts": dict(facts), "lines": [_plain({**dataclasses.asdict(line), "verdict": line.verdict}) for line in lines]}


def write_json(path: Path, facts: Mapping[str, str], lines: Sequence[Line]) -> None:
    """Write :func:`as_json` to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(as_json(facts, lines), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return None if isinstance(value, float) and math.isnan(value) else value
