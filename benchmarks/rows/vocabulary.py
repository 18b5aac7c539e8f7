"""Decoding with a vocabulary as large as today's models have, where the sampler's pass over it shows."""

from __future__ import annotations

import dataclasses

from benchmarks.arena import Arena, Entry
from benchmarks.line import Line, at_least
from benchmarks.protocol import DEFAULT_CHAIN, Task

MODEL = "synthetic-llama-150000"
PROMPT = "hello all"


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
