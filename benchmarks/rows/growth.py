"""What a token costs beyond the bare loop, early and late: Python's share must not grow with the completion."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

from benchmarks.arena import Arena, Contest, Entry
from benchmarks.line import Line, Quantity, at_most
from benchmarks.protocol import GREEDY, Setup, Task
from benchmarks.rows.decode import PROMPT, TEXT_MODEL
from benchmarks.statistics import Figure, difference, figure

SHORT, LONG = 250, 4000
CONTEXT = 4352
SYNTHETIC_MODEL = "synthetic-llama"
MICRO = 1e6
FLAT = at_most(1.2)


def synthetic(arena: Arena) -> list[Line]:
    """On a tiny model, where the share is most of the time; the peer's share beside it, without a target."""
    return _grow(arena, "growth", SYNTHETIC_MODEL, rounds=arena.rounds, calls=LONG // SHORT, with_peer=True)


def text_model(arena: Arena) -> list[Line]:
    """On the text model, where the share is a small part of the time and noise may hide it."""
    return _grow(arena, "growth-text", TEXT_MODEL, rounds=min(arena.rounds, 3), calls=1, with_peer=False)


def _grow(arena: Arena, row: str, model: str, *, rounds: int, calls: int, with_peer: bool) -> list[Line]:
    readied = arena.ready(arena.model(model), n_ctx=CONTEXT)
    entries = {
        **_entries(arena, "bare", readied.bare, calls),
        **_entries(arena, "ours", readied.ours, calls),
    }
    contenders = ["ours"]
    if with_peer and arena.peer is not None:
        entries |= _entries(arena, "peer", readied.peer_alike, calls)
        contenders.append("peer")
    contest = arena.contest(row, entries, rounds=rounds)
    return [_line(contest, who) for who in contenders]


def _entries(arena: Arena, who: str, setup: Setup, calls: int) -> Iterator[tuple[str, Entry]]:
    contestant = {"bare": arena.bare, "ours": arena.ours, "peer": arena.peer}[who]
    if contestant is None:
        return
    name = {"bare": "bare loop", "ours": "create_completion", "peer": "llama-cpp-python"}[who]
    for tokens, repeated in ((SHORT, calls), (LONG, 1)):
        task = Task(setup=setup, prompt=PROMPT, tokens=tokens, sampling=GREEDY, calls=repeated)
        yield f"{who} {tokens}", Entry(contestant=contestant, task=task, label=f"{name}, {tokens} tokens")


def _line(contest: Contest, who: str) -> Line:
    target = FLAT if who == "ours" else None
    name = "Python's share" if who == "ours" else "llama-cpp-python's share"
    names = {"row": contest.row, "measured": f"{name} per token, {LONG} tokens", "against": f"at {SHORT} tokens"}
    keys = [f"{side} {tokens}" for side in (who, "bare") for tokens in (LONG, SHORT)]
    if failed := contest.failure(*keys):
        return Line(**names, target=target, failure=failed)
    late, early = _shares(contest, who, LONG), _shares(contest, who, SHORT)
    notes = [note for key in keys for note in contest.shortened(key)]
    return Line(
        **names,
        value=Quantity(value=figure(late).value, unit="µs"),
        other=Quantity(value=figure(early).value, unit="µs"),
        figure=growth(late, early),
        target=target,
        notes=tuple(notes),
    )


def _shares(contest: Contest, who: str, tokens: int) -> list[float]:
    """Microseconds per token beyond the bare loop, in every round."""
    sides = [[reading.per_token * MICRO for reading in contest.series[f"{side} {tokens}"].readings] for side in (who, "bare")]
    return [a - b for a, b in zip(*sides, strict=True)]


def growth(late: list[float], early: list[float]) -> Figure:
    """Median share late over median share early; not a number where the shares are not clear of zero."""
    first, second = figure(late), figure(early)
    if min(first.low, second.low) <= 0:
        return Figure(value=math.nan, low=math.nan, high=math.nan)
    return Figure(value=first.value / second.value, low=first.low / second.high, high=first.high / second.low)
