from __future__ import annotations

import ctypes
import dataclasses
import io
import json
import os
import sys
import time
from pathlib import Path

import pytest

from benchmarks.contestant import Contestant, Launch
from benchmarks.interleave import MeasurementError
from benchmarks.protocol import GREEDY, Reading, Ready, Setup, Stopwatch, Task
from benchmarks.rows import imports
from benchmarks.workers import native
from benchmarks.workers.serve import answer
from llama_cpp._native.bindings.declarations import llama as generated

TASK = Task(setup=Setup(model="m"), prompt="p", tokens=3, sampling=GREEDY)


class Echo:
    def prepare(self, setup: Setup) -> Ready:
        return Ready(n_ctx=setup.n_ctx or 1, n_threads=2, n_threads_batch=3, version="v")

    def measure(self, task: Task) -> Reading:
        assert isinstance(task.setup, Setup)
        return Reading(seconds=2.0, cpu_seconds=1.0, tokens=task.tokens, text=task.prompt)

    def release(self) -> None:
        raise KeyError("nothing there")


def ask(do: str, details: dict[str, object]) -> dict[str, object]:
    sink = io.StringIO()
    answer(Echo(), {"do": do, "details": details}, sink)
    result: dict[str, object] = json.loads(sink.getvalue())
    return result


def test_requests_and_answers_survive_the_pipe() -> None:
    assert ask("prepare", dataclasses.asdict(Setup(model="m", n_ctx=7)))["n_ctx"] == 7
    assert Reading(**ask("measure", dataclasses.asdict(TASK))) == Reading(seconds=2.0, cpu_seconds=1.0, tokens=3, text="p")  # type: ignore[arg-type]


def test_the_stopwatch_adds_up_its_blocks_and_leaves_out_what_lies_between() -> None:
    watch, started = Stopwatch(), time.perf_counter()
    for _ in range(2):
        with watch:
            time.sleep(0.02)
        time.sleep(0.05)
    assert watch.seconds >= 0.039
    assert time.perf_counter() - started - watch.seconds >= 0.099
    assert watch.cpu_seconds < watch.seconds


def test_an_exception_becomes_the_answer() -> None:
    assert ask("release", {}) == {"error": "KeyError: 'nothing there'"}
    assert "unknown request" in str(ask("dance", {})["error"])


@pytest.mark.parametrize(
    ("own", "theirs"),
    [
        (native.ModelParams, generated.llama_model_params),
        (native.ContextParams, generated.llama_context_params),
        (native.ChainParams, generated.llama_sampler_chain_params),
        (native.Batch, generated.llama_batch),
    ],
)
def test_the_bare_loop_has_the_structures_of_the_pinned_headers(own: type[ctypes.Structure], theirs: type[ctypes.Structure]) -> None:
    def layout(kind: type[ctypes.Structure]) -> list[tuple[str, int, int]]:
        return [(field[0], getattr(kind, field[0]).offset, getattr(kind, field[0]).size) for field in kind._fields_]

    assert layout(own) == layout(theirs)
    assert ctypes.sizeof(own) == ctypes.sizeof(theirs)


def launch(module: str) -> Launch:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return Launch(python=Path(sys.executable), module=module, variables=variables)


def test_a_worker_that_dies_is_named_with_its_last_words_and_may_be_started_again() -> None:
    with Contestant("bare loop", dataclasses.replace(launch("bare"), arguments=("/nowhere",))) as contestant:
        for _ in range(2):
            with pytest.raises(MeasurementError, match=r"bare loop ended with 1: .*libggml-base"):
                contestant.prepare(TASK.setup)
        contestant.release()


def test_a_contestant_that_was_never_asked_starts_no_process() -> None:
    with Contestant("idle", dataclasses.replace(launch("bare"), python=Path("/no/such/python"))):
        pass


def test_imports_are_timed_in_the_environment_of_the_launch() -> None:
    assert 0 < imports.timed(launch("bare"), "import json") < 60_000
    with pytest.raises(MeasurementError, match="No module named 'no_such_module'"):
        imports.timed(launch("bare"), "import no_such_module")
