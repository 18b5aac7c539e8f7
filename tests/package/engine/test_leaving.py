from __future__ import annotations

import threading

import pytest

from llama_cpp._engine import leaving
from llama_cpp._engine.leaving import Evaluations


def test_running_evaluations_are_stopped_and_waited_for() -> None:
    evaluations, stopped = Evaluations(), threading.Event()
    evaluations.running[1] = stopped.set

    def evaluate() -> None:
        stopped.wait()
        del evaluations.running[1]

    thread = threading.Thread(target=evaluate)
    thread.start()
    evaluations.close()
    assert evaluations.closed
    assert not evaluations.running
    thread.join()


def test_one_that_does_not_stop_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaving, "_PATIENCE_SECONDS", 0.01)
    evaluations = Evaluations()
    evaluations.running[1] = lambda: None
    evaluations.close()
    assert evaluations.running
