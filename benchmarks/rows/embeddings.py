"""Vectors of many short texts: together against one native batch, and against one text at a time."""

from __future__ import annotations

import dataclasses

from benchmarks.arena import Arena, Entry
from benchmarks.line import Line, at_least
from benchmarks.protocol import GREEDY, Task
from benchmarks.rows.decode import TEXT_MODEL

CONTEXT = 2048
TEXTS = tuple(f"A short text, number {number}, about lighthouses and the sea." for number in range(64))


def short_texts(arena: Arena) -> list[Line]:
    """`embed` of a list, pooled by the mean."""
    readied = arena.ready(arena.model(TEXT_MODEL), n_ctx=CONTEXT, embeddings=True)
    task = Task(setup=readied.ours, prompt="", tokens=len(TEXTS), sampling=GREEDY, texts=TEXTS)
    entries = {
        "bare": Entry(contestant=arena.ours, task=dataclasses.replace(task, bare=True), label="one native batch"),
        "ours": Entry(contestant=arena.ours, task=task, label=f"embed of {len(TEXTS)} texts"),
        "apart": Entry(contestant=arena.ours, task=dataclasses.replace(task, apart=True), label="embed of one text at a time"),
    }
    if arena.peer is not None:
        peers = dataclasses.replace(task, setup=readied.peer_alike)
        entries["peer"] = Entry(contestant=arena.peer, task=peers, label="llama-cpp-python, embed of the list")
    contest = arena.contest("embeddings", entries)
    lines = [contest.compare("ours", "bare", at_least(0.95)), contest.compare("ours", "apart", at_least(2.0))]
    return [*lines, contest.compare("ours", "peer", None)] if arena.peer is not None else lines
