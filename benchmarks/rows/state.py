"""What snapshots cost in time and bytes, and how many tokens a growing conversation evaluates; each in a new process."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

from benchmarks.arena import Arena
from benchmarks.interleave import MeasurementError
from benchmarks.line import Line, Target, at_least, at_most
from benchmarks.rows.decode import TEXT_MODEL
from benchmarks.rows.imports import printed
from benchmarks.statistics import figure

SAVE, REUSE = "state", "reuse"
HYBRID_MODEL = "synthetic-lfm2"
ROUNDS = 3
TOKENS = 1500
_OPENED = """
import sys
sys.path[:0] = {first!r}
import numpy as np
import time
from llama_cpp import Llama
llm = Llama({model!r}, n_ctx=2048, verbose=False)
ids = [int(each) for each in np.random.default_rng(1).integers(10, 250, 2000)]
"""
_SPEED = (
    _OPENED
    + """
llm.eval(ids[:{tokens}])
data = memoryview(bytearray(llm.save_state().nbytes))
def seconds(call):
    start = time.perf_counter()
    made = call()
    return time.perf_counter() - start
print(sorted(seconds(lambda: bytes(data)) / seconds(llm.save_state) for _ in range(15))[7])
"""
)
_SIZE = (
    _OPENED
    + """
llm.eval(ids[:{tokens}])
state = llm.save_state()
print(state.nbytes / (state.llama_state_size + 4 * llm.n_vocab() + 4 * {tokens}))
"""
)
_CONVERSATION = (
    _OPENED
    + """
evaluated = new = 0
prompt = ids[:200]
llm.prefill(prompt)
for turn in range(4):
    llm.create_completion(prompt, max_tokens=4, temperature=0.0)
    held = llm.input_ids[: llm.n_tokens].tolist()
    prompt = held + ids[1000 + 50 * turn :][:50]
    evaluated += llm.prefill(prompt).n_evaluated
    new += 50
print(evaluated / new)
"""
)


def saving(arena: Arena) -> list[Line]:
    """A snapshot beside a copy of as many bytes into new memory, and its size beside what has to be in it."""
    fast = Line(row=SAVE, measured=f"save_state after {TOKENS} tokens, speed", against="copying as many bytes into new memory")
    small = Line(row=SAVE, measured="size of the snapshot", against="native state, one row of logits, token ids")
    return [
        _measured(arena, fast, at_least(0.5), _SPEED, TEXT_MODEL, rounds=ROUNDS),
        _measured(arena, small, at_most(1.0), _SIZE, TEXT_MODEL, rounds=1),
    ]


def reuse(arena: Arena) -> list[Line]:
    """Four turns of a conversation: tokens evaluated per new token, with attention and with recurrent state beside it."""
    return [
        _measured(
            arena,
            Line(row=REUSE, measured=f"tokens evaluated in a conversation, {model}", against="new tokens"),
            at_most(1.0),
            _CONVERSATION,
            model,
            rounds=1,
        )
        for model in (TEXT_MODEL, HYBRID_MODEL)
    ]


def _measured(arena: Arena, line: Line, target: Target, program: str, model: str, *, rounds: int) -> Line:
    arena.say(f"{line.row}: {line.measured}")
    line = dataclasses.replace(line, target=target)
    launch = arena.ours.launch
    path: Path = arena.model(model)
    code = program.format(first=list(launch.first), model=str(path), tokens=TOKENS)
    try:
        return dataclasses.replace(line, figure=figure([printed(launch, code) for _ in range(rounds)]))
    except subprocess.TimeoutExpired as error:
        return dataclasses.replace(line, failure=f"it took longer than {error.timeout:.0f} s")
    except MeasurementError as error:
        return dataclasses.replace(line, failure=str(error))
