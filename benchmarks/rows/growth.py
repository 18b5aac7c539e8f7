"""What a token costs beyond the bare loop, early and late: Python's share must not grow with the completion."""

from __future__ import annotations

import dataclasses
import math

from benchmarks.arena import Arena, Contest, Entry
from benchmarks.contestant import Contestant
from benchmarks.line import Line, Quantity, at_most
from benchmarks.protocol import GREEDY, Setup, Task
from benchmarks.rows.decode import PROMPT, TEXT_MODEL
from benchmarks.statistics import Figure, figure

SHORT, LONG = 250, 4000
CONTEXT = 4352
FEW = 3
SYNTHETIC_MODEL = "synthetic-llama"
MICRO = 1e6
FLAT = at_most(1.2)


def synthetic(arena: Arena) -> list[Line]:
    """On a tiny model, where the share is most of the time; the peer's share beside it, in fewer rounds and without a target.

    One thread and its CPU time, which other processes hardly disturb; a share of wall time would drown in their noise.
    """
    readied = arena.ready(arena.model(SYNTHETIC_MODEL), n_ctx=CONTEXT, threads=1)
    bare = _entries(arena.bare, "bare", "bare loop", readied.bare, calls=LONG // SHORT)
    ours = _entries(arena.ours, "ours", "create_completion", readied.ours, calls=LONG // SHORT)
    lines = [_line(arena.contest("growth", {**bare, **ours}), "ours", cpu=True)]
    if arena.peer is not None:
        peer = _entries(arena.peer, "peer", "llama-cpp-python", readied.peer_alike, calls=1)
        lines.append(_line(arena.contest("growth", {**bare, **peer}, rounds=min(arena.rounds, FEW)), "peer", cpu=True))
    return lines


def text_model(arena: Arena) -> list[Line]:
    """On the text model, where the share is a small part of the time and noise may hide it."""
    readied = arena.ready(arena.model(TEXT_MODEL), n_ctx=CONTEXT)
    bare = _entries(arena.bare, "bare", "bare loop", readied.bare, calls=1)
    ours = _entries(arena.ours, "ours", "create_completion", readied.ours, calls=1)
    return [_line(arena.contest("growth-text", {**bare, **ours}, rounds=min(arena.rounds, FEW)), "ours")]


def _entries(contestant: Contestant, who: str, name: str, setup: Setup, *, calls: int) -> dict[str, Entry]:
    """Both lengths; the short one takes several calls in a repetition, so that both last about as long."""
    task = Task(setup=setup, prompt=PROMPT, tokens=LONG, sampling=GREEDY)
    short = dataclasses.replace(task, tokens=SHORT, calls=calls)
    return {
        f"{who} {each.tokens}": Entry(contestant=contestant, task=each, label=f"{name}, {each.tokens} tokens") for each in (short, task)
    }


def _line(contest: Contest, who: str, *, cpu: bool = False) -> Line:
    target = FLAT if who == "ours" else None
    name = "Python's share" if who == "ours" else "llama-cpp-python's share"
    line = Line(
        row=contest.row,
        measured=f"{name} per token, {LONG} tokens{' (CPU time, 1 thread)' if cpu else ''}",
        against=f"at {SHORT} tokens",
        target=target,
    )
    keys = [f"{side} {tokens}" for side in (who, "bare") for tokens in (LONG, SHORT)]
    if failed := contest.failure(*keys):
        return dataclasses.replace(line, failure=failed)
    late, early = _shares(contest, who, LONG, cpu=cpu), _shares(contest, who, SHORT, cpu=cpu)
    return dataclasses.replace(
        line,
        value=Quantity(value=figure(late).value, unit="µs/tok"),
        other=Quantity(value=figure(early).value, unit="µs/tok"),
        figure=growth(late, early),
        notes=contest.notes(*keys),
    )


def _shares(contest: Contest, who: str, tokens: int, *, cpu: bool) -> list[float]:
    """Microseconds per token beyond the bare loop, in every round."""
    sides = [[reading.per_token(cpu=cpu) * MICRO for reading in contest.series[f"{side} {tokens}"].readings] for side in (who, "bare")]
    return [a - b for a, b in zip(*sides, strict=True)]


def growth(late: list[float], early: list[float]) -> Figure:
    """Median share late over median share early; not a number where the shares are not clear of zero."""
    first, second = figure(late), figure(early)
    if min(first.low, second.low) <= 0:
        return Figure(value=math.nan, low=math.nan, high=math.nan)
    return Figure(value=first.value / second.value, low=first.low / second.high, high=first.high / second.low)
