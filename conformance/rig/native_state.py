"""What native code holds and complains about in this process: the one place where the suite looks behind public names."""

from __future__ import annotations

import gc
import logging

from typing_extensions import Self

from llama_cpp._engine import handle

LOGGER_NAME = "llama-cpp-python"


def live_handles() -> int:
    """Native objects that are owned and not freed, after unreachable ones were collected."""
    gc.collect()
    return handle.live_handles()


class ErrorLines(logging.Handler):
    """Collects the lines that native code logs as errors."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line."""
        self.lines.append(record.getMessage())

    def __enter__(self) -> Self:
        logging.getLogger(LOGGER_NAME).addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger(LOGGER_NAME).removeHandler(self)
