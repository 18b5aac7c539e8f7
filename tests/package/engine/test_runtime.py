"""Starting says once, in the log, that an accelerator of this installation has no device."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from llama_cpp._engine import logbridge, runtime
from llama_cpp._engine.logbridge import WARN
from llama_cpp._native.accelerators import Accelerator
from llama_cpp._native.cuda_driver import Absence

ABSENCE = Absence(reason="it is a toaster", remedy="buy a GPU")


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    lines: list[tuple[int, str]] = []
    monkeypatch.setattr(logbridge, "install", lambda: None)
    monkeypatch.setattr(logbridge.bridge, "say", lambda level, line: lines.append((level, line)))
    monkeypatch.setattr(runtime, "ensure_backends", lambda: "backends")
    monkeypatch.setattr(runtime._Told, "accelerators", False)
    return lines


def have(monkeypatch: pytest.MonkeyPatch, *absences: Absence | None) -> None:
    made: list[Any] = [Accelerator(name="CUDA", release="13.1", devices=0, libraries={}, absence=absence) for absence in absences]
    monkeypatch.setattr(runtime, "accelerators", lambda backends: tuple(made) if backends == "backends" else ())


def test_an_absence_is_said_once(said: list[tuple[int, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    have(monkeypatch, ABSENCE)
    threads = [threading.Thread(target=runtime.start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert runtime.start() == "backends"
    assert said == [(WARN, str(ABSENCE))]


@pytest.mark.parametrize("absences", [(), (None,)])
def test_otherwise_nothing_is_said(said: list[tuple[int, str]], monkeypatch: pytest.MonkeyPatch, absences: tuple[None, ...]) -> None:
    have(monkeypatch, *absences)
    runtime.start()
    assert said == []
