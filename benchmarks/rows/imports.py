"""The time that an import takes, each in a new process."""

from __future__ import annotations

import dataclasses
import subprocess
import time
from collections.abc import Callable

from benchmarks.arena import Arena
from benchmarks.contestant import Launch
from benchmarks.interleave import MeasurementError, Series, interleave
from benchmarks.line import Line, Quantity, Target, at_most
from benchmarks.statistics import difference, figure

ROUNDS = 15
TIMEOUT = 60
MILLI = 1e3
TARGET = at_most(40.0, "ms")
ROW = "import"
_TIMED = "import sys, time; sys.path[:0] = {first!r}; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
NUMPY, OURS, CLASS, PEER = "import numpy", "import llama_cpp", "from llama_cpp import Llama", "import llama_cpp of llama-cpp-python"


def cold(arena: Arena) -> list[Line]:
    """Our import against numpy's, also with the class, since the package loads by need; the peer's import stands beside it."""
    arena.say(f"{ROW}: {ROUNDS} rounds")
    turns = {
        NUMPY: _turn(arena.ours.launch, NUMPY),
        OURS: _turn(arena.ours.launch, OURS),
        CLASS: _turn(arena.ours.launch, CLASS),
    }
    if arena.peer is not None:
        turns[PEER] = _turn(arena.peer.launch, OURS)
    for turn in turns.values():
        _quietly(turn)
    series = interleave(turns, rounds=ROUNDS, before_each=lambda _name, _number: time.sleep(0.05))
    return [_line(name, series, None if name == PEER else TARGET) for name in turns if name != NUMPY]


def timed(launch: Launch, statement: str) -> float:
    """Milliseconds that the statement takes in a new process of that environment."""
    return printed(launch, _TIMED.format(first=list(launch.first), statement=statement)) * MILLI


def printed(launch: Launch, code: str) -> float:
    """The number that a program prints last, in a new process of that environment."""
    done = subprocess.run(
        [str(launch.python), "-I", "-c", code],
        env=dict(launch.variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    if done.returncode:
        raise MeasurementError(done.stderr.strip().rpartition("\n")[2] or f"exit code {done.returncode}")
    return float(done.stdout.splitlines()[-1])


def _turn(launch: Launch, statement: str) -> Callable[[], float]:
    return lambda: timed(launch, statement)


def _quietly(turn: Callable[[], float]) -> None:
    """Bring the files into the page cache, and let Python write its bytecode."""
    try:
        turn()
    except MeasurementError:
        return  # the measured rounds report it


def _line(name: str, series: dict[str, Series[float]], target: Target | None) -> Line:
    line = Line(row=ROW, measured=name, against=NUMPY, unit="ms", target=target)
    if failed := series[name].failure or series[NUMPY].failure:
        return dataclasses.replace(line, failure=failed)
    mine, numpy = series[name].readings, series[NUMPY].readings
    return dataclasses.replace(
        line,
        value=Quantity(value=figure(mine).value, unit="ms"),
        other=Quantity(value=figure(numpy).value, unit="ms"),
        figure=difference(mine, numpy),
    )
