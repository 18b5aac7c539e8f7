"""What a download shows on stderr while it runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeRemainingColumn, TransferSpeedColumn

if TYPE_CHECKING:
    from typing_extensions import Self


class DownloadProgress:
    """A bar on a terminal; elsewhere one line at the start and one at the end."""

    def __init__(self, label: str, *, host: str, size: int | None) -> None:
        self._label = label
        self._host = host
        self._size = size
        self._position = 0
        self._console = Console(stderr=True, soft_wrap=True)
        self._started = time.monotonic()
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=self._console, transient=True) if self._console.is_terminal else None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if self._bar is None:
            self._print(f"downloading {self._label} from {self._host}")
        else:
            self._bar.start()
            self._task = self._bar.add_task(self._label, total=self._size)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        if error is None:
            seconds = time.monotonic() - self._started
            self._print(f"downloaded {self._label}: {self._position / 1e6:.1f} MB in {seconds:.1f} s")

    def at(self, position: int, total: int | None) -> None:
        """That many bytes are here, of `total` if it is known."""
        self._position = position
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=position, total=total)

    def note(self, text: str) -> None:
        """Tell what happened in between."""
        self._print(f"{self._label}: {text}")

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False)
