"""Decoding a text model: greedy and sampled, plain and streamed, against the bare loop and the peer."""

from __future__ import annotations

import dataclasses

from benchmarks.arena import Arena, Contest, Entry, Readied
from benchmarks.line import Line, Target, at_least
from benchmarks.protocol import DEFAULT_CHAIN, GREEDY, UNSAMPLED, Task

TEXT_MODEL = "smollm2-135m-instruct"
PROMPT = "The history of the lighthouse begins"
CHAT = "Tell me a very long story about a lighthouse."
RENDERED = (
    "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
    f"<|im_start|>user\n{CHAT}<|im_end|>\n<|im_start|>assistant\n"
)
STAND_IN = "llama_decode alone (stands in for llama-bench tg)"


def greedy(arena: Arena) -> list[Line]:
    """`create_completion` with temperature 0 and nothing else given."""
    readied = arena.ready(arena.model(TEXT_MODEL))
    task = Task(setup=readied.ours, prompt=PROMPT, tokens=arena.tokens, sampling=GREEDY)
    bare = dataclasses.replace(task, bare=True)
    entries = {
        "bare": Entry(contestant=arena.ours, task=bare, label="bare loop, greedy sampler"),
        "ours": Entry(contestant=arena.ours, task=task, label="create_completion, greedy"),
        "alone": Entry(contestant=arena.ours, task=dataclasses.replace(bare, sampling=UNSAMPLED), label=STAND_IN),
        **_peers(arena, readied, task, ""),
    }
    contest = arena.contest("greedy", entries)
    return [
        contest.compare("ours", "bare", at_least(0.98)),
        contest.compare("ours", "alone", at_least(0.93)),
        *_against_peer(arena, contest, "ours", "peer"),
    ]


def default_chain(arena: Arena) -> list[Line]:
    """`create_completion` with nothing given but the seed, plain and streamed."""
    readied = arena.ready(arena.model(TEXT_MODEL))
    apart = Task(setup=readied.bare, prompt=PROMPT, tokens=arena.tokens, sampling=DEFAULT_CHAIN)
    task = dataclasses.replace(apart, setup=readied.ours, seed=arena.endless_seed(apart))
    bare = dataclasses.replace(task, bare=True)
    streamed = dataclasses.replace(task, stream=True)
    entries = {
        "bare": Entry(contestant=arena.ours, task=bare, label="bare loop, default chain"),
        "ours": Entry(contestant=arena.ours, task=task, label="create_completion, default chain"),
        "streamed": Entry(contestant=arena.ours, task=streamed, label="create_completion, streamed"),
        **_peers(arena, readied, task, ""),
        **_peers(arena, readied, streamed, " streamed"),
    }
    contest = arena.contest("chain", entries)
    return [
        contest.compare("ours", "bare", at_least(0.97)),
        *_against_peer(arena, contest, "ours", "peer"),
        contest.compare("streamed", "bare", at_least(0.96)),
        *_against_peer(arena, contest, "streamed", "peer streamed"),
    ]


def chat(arena: Arena) -> list[Line]:
    """`create_chat_completion` with the default chain: the same tokens as the bare loop behind the rendered prompt."""
    readied = arena.ready(arena.model(TEXT_MODEL))
    apart = Task(setup=readied.bare, prompt=RENDERED, chat=CHAT, tokens=arena.tokens, sampling=DEFAULT_CHAIN)
    task = dataclasses.replace(apart, setup=readied.ours, seed=arena.endless_seed(apart))
    entries = {
        "bare": Entry(contestant=arena.ours, task=dataclasses.replace(task, bare=True), label="bare loop, default chain"),
        "ours": Entry(contestant=arena.ours, task=task, label="create_chat_completion, default chain"),
        **_peers(arena, readied, task, ""),
    }
    contest = arena.contest("chat", entries)
    return [contest.compare("ours", "bare", at_least(0.95)), *_against_peer(arena, contest, "ours", "peer")]


def _peers(arena: Arena, readied: Readied, task: Task, label: str) -> dict[str, Entry]:
    return {f"peer{label} {number}": entry for number, entry in enumerate(arena.peer_entries(readied, task, label))}


def _against_peer(arena: Arena, contest: Contest, key: str, prefix: str) -> list[Line]:
    target: Target = at_least(1.25)
    if arena.peer_failure:
        label = contest.entries[key].label
        return [Line(row=contest.row, measured=label, against="llama-cpp-python", target=target, failure=arena.peer_failure)]
    return [contest.compare(key, other, target) for other in contest.entries if other.rstrip("0123456789") == f"{prefix} "]
