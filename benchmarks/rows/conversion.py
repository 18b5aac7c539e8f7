"""The time that a JSON Schema with many optional properties takes to become a grammar, each measured in a new process."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

from benchmarks.arena import Arena
from benchmarks.contestant import Launch
from benchmarks.interleave import Series, interleave
from benchmarks.line import Line, Quantity, at_most
from benchmarks.rows.imports import printed
from benchmarks.statistics import figure

ROW = "schema"
ROUNDS = 5
MICRO = 1e6
TARGETS = {20: 80.0, 100: 300.0, 200: 600.0}
"""Microseconds by the number of properties."""
OURS, PEER = "json_schema_to_gbnf", "llama-cpp-python's"

# The schema as text: that is what both take. The quickest within a second is what the work costs.
_CODE = """
import sys, time
sys.path[:0] = {first!r}
import json
from llama_cpp.llama_grammar import json_schema_to_gbnf
kinds = ("string", "integer", "boolean", "number")
text = json.dumps({{"type": "object", "properties": {{f"property_{{i}}": {{"type": kinds[i % 4]}} for i in range({count})}}}})
best, end = float("inf"), time.perf_counter() + 1.0
while time.perf_counter() < end:
    start = time.perf_counter()
    json_schema_to_gbnf(text)
    best = min(best, time.perf_counter() - start)
print(best)
"""


def optional_properties(arena: Arena) -> list[Line]:
    """20, 100 and 200 of them; the peer's converter stands beside."""
    arena.say(f"{ROW}: {ROUNDS} rounds")
    return [line for count in TARGETS for line in _measured(arena, count)]


def _measured(arena: Arena, count: int) -> list[Line]:
    turns = {OURS: _turn(arena.ours.launch, count)}
    if arena.peer is not None:
        turns[PEER] = _turn(arena.peer.launch, count)
    series = interleave(turns, rounds=ROUNDS, before_each=lambda _name, _number: time.sleep(0.05))
    return [_line(name, series[name], count) for name in turns]


def _turn(launch: Launch, count: int) -> Callable[[], float]:
    return lambda: printed(launch, _CODE.format(first=list(launch.first), count=count)) * MICRO


def _line(name: str, series: Series[float], count: int) -> Line:
    target = at_most(TARGETS[count], "µs") if name == OURS else None
    line = Line(row=ROW, measured=f"{name}, {count} optional properties", unit="µs", target=target)
    if series.failure:
        return dataclasses.replace(line, failure=series.failure)
    found = figure(series.readings)
    return dataclasses.replace(line, value=Quantity(value=found.value, unit="µs"), figure=found)
