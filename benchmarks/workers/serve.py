"""A worker's side of the pipe: reads requests, hands them to a contestant, writes answers. Measures nothing itself."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import Protocol, TextIO

from benchmarks.protocol import Reading, Ready, Setup, Task

_MAPS = Path("/proc/self/maps")


class Contestant(Protocol):
    """What a worker module implements. A setup that was prepared stays ready until it is released."""

    def prepare(self, setup: Setup) -> Ready:
        """Have a model loaded."""

    def measure(self, task: Task) -> Reading:
        """Take one repetition of a prepared setup."""

    def release(self) -> None:
        """Unload everything."""


def serve(contestant: Contestant) -> None:
    """Answer requests until the parent closes the pipe. What native code prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        answer(contestant, json.loads(line), answers)


def answer(contestant: Contestant, request: dict[str, object], sink: TextIO) -> None:
    """Do what one request says; an exception becomes the answer."""
    try:
        result = _perform(contestant, request)
    except Exception as error:  # noqa: BLE001 - the parent reports it beside the row
        result = {"error": f"{type(error).__name__}: {error}"}
    sink.write(json.dumps(result) + "\n")
    sink.flush()


def _perform(contestant: Contestant, request: dict[str, object]) -> dict[str, object]:
    details = request.get("details")
    fields = details if isinstance(details, dict) else {}
    if request["do"] == "prepare":
        ready = contestant.prepare(Setup(**fields))
        return dataclasses.asdict(dataclasses.replace(ready, backends=cpu_backends()))
    if request["do"] == "measure":
        return dataclasses.asdict(contestant.measure(Task(**{**fields, "setup": Setup(**fields["setup"])})))
    if request["do"] == "release":
        contestant.release()
        return {}
    raise ValueError(f"unknown request {request['do']!r}")


def cpu_backends() -> tuple[str, ...]:
    """File names of the ggml CPU backends in this process; empty where the system has no /proc."""
    if not _MAPS.exists():
        return ()
    paths = (line.split(maxsplit=5)[-1] for line in _MAPS.read_text(encoding="utf-8").splitlines())
    names = (path.rpartition("/")[2] for path in paths)
    return tuple(sorted({name for name in names if "ggml-cpu" in name}))
