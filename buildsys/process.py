"""Running other programs: output kept in a log file, a moving line of progress, and the tail when one fails."""

from __future__ import annotations

import os
import subprocess
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.status import Status
from typing_extensions import Self

from buildsys.errors import CommandFailedError

TAIL_LINES = 40
QUIET_SECONDS = 30.0

console = Console(stderr=True, highlight=False)


def run_logged(
    command: Sequence[str | Path],
    *,
    log: Path,
    label: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    alone: bool = False,
    umask: int = -1,
) -> None:
    """Run `command`, appending all its output to `log` and showing its latest line on a terminal.

    `env` is added to this process's environment variables, or, where it stands `alone`, replaces them.

    Raises:
        CommandFailedError: with the last lines of the output and the log's place.
    """
    words = [os.fspath(word) for word in command]
    log.parent.mkdir(parents=True, exist_ok=True)
    tail: deque[str] = deque(maxlen=TAIL_LINES)
    with log.open("a", encoding="utf-8", buffering=1) as sink, _Progress(label) as progress:
        print(f"$ {subprocess.list2cmdline(words)}", file=sink, flush=True)
        try:
            process = subprocess.Popen(
                words,
                cwd=cwd,
                env={**({} if alone else os.environ), **(env or {})},
                umask=umask,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        except OSError as error:
            raise CommandFailedError(f"{label}: cannot start {words[0]}: {error}", hint="install it, or check PATH") from error
        with process:
            for line in process.stdout or ():
                sink.write(line)
                tail.append(line.rstrip())
                progress.show(line)
        if process.returncode:
            shown = "\n  ".join(tail)
            raise CommandFailedError(f"{label} failed with exit code {process.returncode}\n  {shown}", hint=f"read the whole log: {log}")


class _Progress:
    """The latest line beside the label: moving on a terminal, every half minute elsewhere."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._status = Status(label, console=console)
        self._printed = time.monotonic()

    def __enter__(self) -> Self:
        if console.is_terminal:
            self._status.start()
        else:
            console.print(f"{self._label} …", markup=False, soft_wrap=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def show(self, line: str) -> None:
        latest = line.strip()[:100]
        if not latest:
            return
        if console.is_terminal:
            self._status.update(escape(f"{self._label}  {latest}"))
        elif time.monotonic() - self._printed > QUIET_SECONDS:
            self._printed = time.monotonic()
            console.print(f"  {latest}", markup=False, soft_wrap=True)
