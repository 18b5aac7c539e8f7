"""Calls that would end the process raise instead: each of `guarded`, in child processes.

A child runs as many as it survives. When one ends it, that one is named, and the rest goes on in the next child.

Of llama.cpp's fatal calls two are out of reach, because nothing here makes them: reading the inputs of layers that nobody
enabled, and media projectors of a wrong shape.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from native.guarded import calls
from rig import child, material

ROOT = Path(__file__).parent.parent
MODELS = (material.SYNTH_LLAMA, material.SYNTH_BERT, material.SYNTH_T5, material.SYNTH_LFM2, material.SYNTH_QWEN35, material.SYNTH_LORA)
RUN = "import sys; sys.path.insert(0, sys.argv[1]); from native.guarded import calls; calls.main(sys.argv[2:])"


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Any]:
    """What each call came to: the exception's class and message, None when it raised nothing, or how the process ended."""
    for variable in MODELS:
        material.model(variable)
    found: dict[str, Any] = {}
    left = list(calls.CASES)
    while left:
        # not isolated: the tested package may be a source tree that an environment variable names
        done = child.run(RUN, ROOT, *left, options=("-B",), env={"GGML_NO_BACKTRACE": "1"})
        lines = [json.loads(line) for line in done.out.splitlines() if line.startswith("{")]
        found.update({line["name"]: line["outcome"] for line in lines if "name" in line})
        running = [line["begins"] for line in lines if "begins" in line and line["begins"] not in found]
        assert lines, f"the child ended with {done.code} before the first call: {done.err}"
        found.update(dict.fromkeys(running, f"the process ended with {done.code}: {done.err[-400:]}"))
        left = [name for name in left if name not in found]
    return found


def wrong(outcome: Any) -> bool:
    """Whether it is anything but an error that a program can catch, with a message."""
    return not isinstance(outcome, list) or not outcome[2] or not outcome[1]


def test_no_call_is_let_through_or_ends_the_process(outcomes: dict[str, Any]) -> None:
    assert {name: outcome for name, outcome in outcomes.items() if wrong(outcome)} == {}


def test_every_call_was_made(outcomes: dict[str, Any]) -> None:
    assert set(outcomes) == set(calls.CASES)
    assert len(outcomes) >= 100
