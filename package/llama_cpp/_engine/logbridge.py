"""What llama.cpp, ggml and mtmd log: assembled into lines, remembered for exceptions, passed on to `logging`.

Process-wide, as the native side is. Nothing is installed at import; `install` is called before the first native
object is made.
"""

from __future__ import annotations

import atexit
import logging
import re
import sys
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from llama_cpp._native.bindings import llama
from llama_cpp._native.bindings.declarations.ggml import ggml_log_callback
from llama_cpp._native.log_route import ignoring_callback, mark_listened_to

if TYPE_CHECKING:
    from collections.abc import Sequence

OUTPUT, ERROR, WARN, INFO, TRACE, DEBUG = range(6)
"""Verbosity levels: a line is shown when its level is at most the verbosity. Errors only by default."""

DEFAULT_FILTERS = ("CUDA Graph", "CUDA graph")
LOGGER_NAME = "llama-cpp-python"

logger = logging.getLogger(LOGGER_NAME)
"""Native lines arrive here as records. Raising its level silences them too."""

_LEVEL_OF_GGML = {0: OUTPUT, 1: DEBUG, 2: INFO, 3: WARN, 4: ERROR}
_GGML_CONTINUE = 5
# What an evaluation says when it was asked to stop; native code logs that as errors. (GGML_STATUS_ABORTED is 1.)
_ABORTED = re.compile(r"failed with error 1$|compute status: 1$|failed to (?:de|en)code, ret = 2$")
# What CUDA says where there is no GPU, which is no error; `runtime` says it in other words.
_NO_DEVICE = re.compile(r"^ggml_cuda_init: failed to initialize CUDA: ")
GGML_LOG_LEVEL_TO_LOGGING_LEVEL = {
    0: logging.CRITICAL, 1: logging.DEBUG, 2: logging.INFO, 3: logging.WARNING, 4: logging.ERROR, 5: logging.DEBUG,
}  # fmt: skip
"""Levels of `ggml_log_level` as the older lineage's programs translate them: none, debug, info, warning, error, continued."""

_LOGGING_LEVEL = (logging.INFO, logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG, logging.DEBUG)


class LogBridge:
    """Assembles fragments into lines, keeps the last ones, and shows those that verbosity and filters let pass."""

    def __init__(self, target: logging.Logger, *, remembered: int = 128) -> None:
        self.verbosity = ERROR
        self.filters: tuple[str, ...] = DEFAULT_FILTERS
        self.filters_case_sensitive = True
        self.count = 0
        self._target = target
        self._lines: deque[tuple[int, int, str]] = deque(maxlen=remembered)
        self._pending: dict[int, tuple[int, str]] = {}
        self._interrupt: BaseException | None = None

    def feed(self, ggml_level: int, text: bytes | None, _user_data: object = None) -> None:
        """Take one fragment. Called by native code on any thread: it never raises."""
        try:
            self._take(ggml_level, (text or b"").decode("utf-8", "replace"))
        except Exception:  # noqa: BLE001 - a logging handler's failure must not reach C
            return
        except BaseException as interrupt:  # noqa: BLE001 - kept for `raise_interrupt`
            self._interrupt = interrupt

    def _take(self, ggml_level: int, text: str) -> None:
        thread = threading.get_ident()
        level = _LEVEL_OF_GGML.get(ggml_level, INFO)
        held = self._pending.pop(thread, None)
        if held is not None:  # the line is still open, whatever level the fragment claims
            level, text = held[0], held[1] + text
        elif ggml_level == _GGML_CONTINUE:
            level = self._lines[-1][1] if self._lines else INFO
        *complete, rest = text.split("\n")
        for line in complete:
            self._line(level, line)
        if rest:
            self._pending[thread] = (level, rest)

    def say(self, level: int, line: str) -> None:
        """A line of this package's own, subject to the same settings as those of native code."""
        self._line(level, line)

    def _line(self, level: int, line: str) -> None:
        self.count += 1
        if level == ERROR and (_ABORTED.search(line) or _NO_DEVICE.search(line)):
            level = INFO
        self._lines.append((self.count, level, line))
        if level <= self.verbosity and line.strip() and not self._filtered(line):
            self._target.log(_LOGGING_LEVEL[level], "%s", line)

    def _filtered(self, line: str) -> bool:
        if self.filters_case_sensitive:
            return any(each in line for each in self.filters)
        folded = line.casefold()
        return any(each.casefold() in folded for each in self.filters)

    def lines_since(self, mark: int, limit: int = 8) -> tuple[str, ...]:
        """The last errors and warnings logged since `mark` (a former `count`); without any, the last few lines."""
        recent = [(level, line.rstrip()) for number, level, line in list(self._lines) if number > mark and line.strip()]
        serious = [line for level, line in recent if level in (ERROR, WARN)]
        return tuple(serious[-limit:] or [line for _, line in recent][-3:])

    def raise_interrupt(self) -> None:
        """Raise what interrupted a callback (Ctrl-C), now that native code has returned."""
        interrupt, self._interrupt = self._interrupt, None
        if interrupt is not None:
            raise interrupt


class _StderrHandler(logging.Handler):
    """Writes lines to the present sys.stderr unless the program has set up logging itself."""

    def emit(self, record: logging.LogRecord) -> None:
        stream = sys.stderr
        if stream is not None and not logging.getLogger().handlers:
            stream.write(f"{record.getMessage()}\n")


bridge = LogBridge(logger)
callback: Any = ggml_log_callback(bridge.feed)
"""The bridge as the C function that native libraries call (`ggml_log_callback`)."""

_installed = False
_lock = threading.Lock()


def install() -> None:
    """Route native logging through this module, once per process, and to nowhere at interpreter exit."""
    global _installed  # noqa: PLW0603 - native logging is one for the process too
    with _lock:
        if _installed:
            return
        _installed = True
        if not logger.handlers:
            logger.addHandler(_StderrHandler())
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.DEBUG)
        llama.llama_log_set(callback, None)
        mark_listened_to()
        atexit.register(llama.llama_log_set, ignoring_callback(), None)


def install_mtmd() -> None:
    """The same for the multimodal library, which has loggers of its own."""
    from llama_cpp._native.bindings import mtmd_helper  # noqa: PLC0415 - opens a library that text does not need

    install()
    mtmd_helper.mtmd_helper_log_set(callback, None)
    atexit.register(mtmd_helper.mtmd_helper_log_set, ignoring_callback(), None)


def get_verbosity() -> int:
    """The present verbosity, 0 to 5."""
    return bridge.verbosity


def set_verbosity(level: int) -> None:
    """Show native lines up to this level: 0 output, 1 error, 2 warn, 3 info, 4 trace, 5 debug."""
    bridge.verbosity = min(max(int(level), OUTPUT), DEBUG)


def get_filters() -> tuple[str, ...]:
    """Texts whose lines are not shown."""
    return bridge.filters


def set_filters(filters: Sequence[str], *, case_sensitive: bool = True) -> None:
    """Do not show lines that contain one of these texts. Exceptions still carry them."""
    bridge.filters = tuple(text for text in filters if text)
    bridge.filters_case_sensitive = case_sensitive


def last_lines(limit: int = 8, *, since: int = 0) -> tuple[str, ...]:
    """The last native lines worth showing, newest last; `since` is a former `bridge.count`."""
    return bridge.lines_since(since, limit)
