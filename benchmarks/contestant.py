"""The parent's side of a worker process: starting it, asking it one thing at a time, ending it."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from benchmarks.interleave import MeasurementError
from benchmarks.protocol import Reading, Ready, Setup, Task
from buildsys.project import ROOT

if TYPE_CHECKING:
    from typing_extensions import Self

_ENTER = "import sys; sys.path[:0] = {first!r}; sys.path.append({root!r}); from benchmarks.workers.{module} import main; main()"
_TAIL = 5
_FAREWELL = 10.0


@dataclass(frozen=True, kw_only=True)
class Launch:
    """How to start a worker: the interpreter, the worker module, its arguments and environment, and what comes first on its path.

    Without a `folder` it runs in an empty one.
    """

    python: Path
    module: str
    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    first: tuple[str, ...] = ()
    folder: Path | None = None

    def command(self) -> list[str]:
        """`-I` keeps the caller's folder and user packages out; the workers' own modules come last on the path."""
        code = _ENTER.format(first=list(self.first), root=str(ROOT), module=self.module)
        return [str(self.python), "-I", "-c", code, *self.arguments]


class Contestant:
    """A worker process. It starts with the first request and stays, idle, until it is closed."""

    def __init__(self, name: str, launch: Launch, *, patience: float = 900.0) -> None:
        self.name = name
        self.launch = launch
        self._patience = patience
        self._process: subprocess.Popen[str] | None = None
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._folder = tempfile.TemporaryDirectory(prefix="bench-")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def prepare(self, setup: Setup) -> Ready:
        """Have a model loaded."""
        answer = self._ask("prepare", dataclasses.asdict(setup))
        return Ready(**{**answer, "backends": tuple(answer["backends"])})

    def measure(self, task: Task) -> Reading:
        """One repetition."""
        return Reading(**self._ask("measure", dataclasses.asdict(task)))

    def release(self) -> None:
        """Have every model unloaded, if the process is there at all."""
        if self._process is not None and self._process.poll() is None:
            self._ask("release", {})

    def close(self) -> None:
        """End the process by closing its pipe."""
        self._end()
        self._stderr.close()
        self._folder.cleanup()

    def _ask(self, do: str, details: Mapping[str, Any]) -> dict[str, Any]:
        process = self._running()
        watchdog = threading.Timer(self._patience, process.kill)
        watchdog.start()
        try:
            line = _exchange(process, json.dumps({"do": do, "details": details}) + "\n")
        finally:
            watchdog.cancel()
        if not line:
            code = self._end()  # the next request starts a new process
            raise MeasurementError(f"the process of {self.name} ended with {code}: {self._last_words()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise MeasurementError(f"{self.name}: {answer['error']}")
        return answer

    def _end(self) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        try:
            process.communicate(timeout=_FAREWELL)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        return process.returncode

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                self.launch.command(),
                cwd=self.launch.folder or self._folder.name,
                env=dict(self.launch.variables),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                text=True,
                encoding="utf-8",
            )
        return self._process

    def _last_words(self) -> str:
        self._stderr.seek(0)
        lines: Sequence[str] = self._stderr.read().decode(errors="replace").split("\n")
        return " / ".join([line.strip() for line in lines if line.strip()][-_TAIL:]) or "it said nothing"


def _exchange(process: subprocess.Popen[str], request: str) -> str:
    """One line there and one back; empty when the process is gone."""
    assert process.stdin is not None  # noqa: S101 - it was started with pipes
    assert process.stdout is not None  # noqa: S101
    try:
        process.stdin.write(request)
        process.stdin.flush()
        return process.stdout.readline()
    except BrokenPipeError:
        return ""
