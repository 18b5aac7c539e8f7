"""A vocabulary as large as today's models have, where every pass over it shows: the sampler's, and what Python adds."""

from __future__ import annotations

import dataclasses
from typing import Any

from benchmarks.arena import Arena, Entry
from benchmarks.line import Line, at_least, at_most
from benchmarks.protocol import DEFAULT_CHAIN, Task

MODEL = "synthetic-llama-150000"
PROMPT = "hello all"
LIKELIEST = 5
FEW = 16  # tokens of the peer, which takes tens of milliseconds for each


def large(arena: Arena) -> list[Line]:
    """The default chain on a tiny model with 150,000 tokens."""
    readied = arena.ready(arena.model(MODEL))
    task = Task(setup=readied.ours, prompt=PROMPT, tokens=arena.tokens, sampling=DEFAULT_CHAIN)
    bare = dataclasses.replace(task, bare=True)
    entries = {
        "bare": Entry(contestant=arena.ours, task=bare, label="bare loop, llama.cpp's own chain"),
        "ours": Entry(contestant=arena.ours, task=task, label="create_completion, default chain"),
    }
    contest = arena.contest("vocabulary", entries)
    return [contest.compare("ours", "bare", at_least(1.0))]


def processor(arena: Arena) -> list[Line]:
    """What a `logits_processor` costs before it does anything."""
    return _beside_plain(arena, "processor", "a logits processor", {"processor": True}, limit=0.3)


def logprobs(arena: Arena) -> list[Line]:
    """What log-probabilities cost; the peer has none without `logits_all`."""
    return _beside_plain(arena, "logprobs", f"logprobs={LIKELIEST}", {"logprobs": LIKELIEST}, limit=0.5, logits_all=True)


def _beside_plain(arena: Arena, row: str, label: str, changes: dict[str, Any], *, limit: float, logits_all: bool = False) -> list[Line]:
    readied = arena.ready(arena.model(MODEL), logits_all=logits_all)
    plain = Task(setup=readied.ours, prompt=PROMPT, tokens=arena.tokens, sampling=DEFAULT_CHAIN)
    entries = {
        "plain": Entry(contestant=arena.ours, task=plain, label="create_completion without it"),
        "ours": Entry(contestant=arena.ours, task=dataclasses.replace(plain, **changes), label=f"create_completion with {label}"),
    }
    lines = [arena.contest(row, entries).cost("ours", "plain", at_most(limit, "ms"))]
    if arena.peer is None:
        return lines
    short = dataclasses.replace(plain, setup=readied.peer_alike, tokens=FEW)
    peer = {
        "plain": Entry(contestant=arena.peer, task=short, label="llama-cpp-python without it"),
        "peer": Entry(contestant=arena.peer, task=dataclasses.replace(short, **changes), label=f"llama-cpp-python with {label}"),
    }
    return [*lines, arena.contest(row, peer).cost("peer", "plain", None)]
