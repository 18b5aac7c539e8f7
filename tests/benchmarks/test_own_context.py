"""The worker that times the package and the bare loop on one context: who is asked, and that the ledger stays right."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.protocol import GREEDY, Reading, Ready, Setup, Task
from benchmarks.workers import own_context

SETUP = Setup(model="m.gguf")
TASK = Task(setup=SETUP, prompt="p", tokens=4, sampling=GREEDY)


@pytest.fixture
def journal(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    told: list[str] = []
    llama = SimpleNamespace(model=1, ctx=2, reset=lambda: told.append("reset"))

    def reading(who: str) -> Any:
        return lambda _task: (told.append(who), Reading(seconds=1.0, cpu_seconds=1.0, tokens=4))[1]

    package = SimpleNamespace(
        prepare=lambda _setup: Ready(n_ctx=512, n_threads=1, n_threads_batch=1, version=""),
        llama=lambda _setup: llama,
        measure=reading("package"),
        release=lambda: told.append("close"),
    )
    bare = SimpleNamespace(
        borrow=lambda _setup, *, model, context: told.append(f"borrow {model} {context}"),
        measure=reading("bare"),
        forget=lambda: told.append("forget"),
    )
    monkeypatch.setattr(own_context, "LlamaClass", lambda: package)
    monkeypatch.setattr(own_context, "Native", lambda _folder, *, running: running)
    monkeypatch.setattr(own_context, "BareLoop", lambda running: bare if running else None)
    return told


def test_the_bare_loop_borrows_the_context_and_leaves_it_empty(journal: list[str]) -> None:
    worker = own_context.OwnContext(Path("/lib"))
    worker.prepare(SETUP)
    worker.measure(TASK)
    worker.measure(Task(setup=SETUP, prompt="p", tokens=4, sampling=GREEDY, bare=True))
    worker.release()
    assert journal == ["borrow 1 2", "package", "reset", "bare", "reset", "forget", "close"]
