from __future__ import annotations

import logging
import sys
import threading
from typing import Any

import pytest

from llama_cpp._engine import logbridge
from llama_cpp._engine.logbridge import DEBUG, ERROR, INFO, OUTPUT, WARN, LogBridge

GGML = {"none": 0, "debug": 1, "info": 2, "warn": 3, "error": 4, "cont": 5}


@pytest.fixture
def target() -> Any:
    logger = logging.Logger("test")  # noqa: LOG001 - its handlers must go with it
    logger.lines = []

    class Collect(logging.Handler):
        def emit(self, record: Any) -> None:
            logger.lines.append((record.levelno, record.getMessage()))

    logger.addHandler(Collect())
    return logger


@pytest.fixture
def bridge(target: Any) -> LogBridge:
    made = LogBridge(target)
    made.verbosity = DEBUG
    return made


def feed(bridge: LogBridge, *fragments: Any) -> None:
    for level, text in fragments:
        bridge.feed(GGML[level], text.encode())


def test_a_line_arrives_when_it_is_complete(bridge: LogBridge, target: Any) -> None:
    feed(bridge, ("info", "one"), ("cont", " two"), ("cont", " three\nnext"))
    assert target.lines == [(logging.INFO, "one two three")]
    feed(bridge, ("cont", " line\n"))
    assert target.lines[1] == (logging.INFO, "next line")


def test_continued_lines_keep_their_first_level(bridge: LogBridge, target: Any) -> None:
    feed(bridge, ("error", "bad"), ("cont", " thing\n"), ("warn", "dots"), ("info", "...\n"), ("cont", "tail\n"))
    assert target.lines == [(logging.ERROR, "bad thing"), (logging.WARNING, "dots..."), (logging.WARNING, "tail")]


def test_threads_do_not_mix_their_lines(bridge: LogBridge, target: Any) -> None:
    feed(bridge, ("info", "mine "))
    other = threading.Thread(target=feed, args=(bridge, ("error", "theirs\n")))
    other.start()
    other.join()
    feed(bridge, ("cont", "still\n"))
    assert [line for _, line in target.lines] == ["theirs", "mine still"]


@pytest.mark.parametrize(
    ("verbosity", "shown"),
    [(OUTPUT, ["o"]), (ERROR, ["o", "e"]), (WARN, ["o", "e", "w"]), (INFO, ["o", "e", "w", "i"]), (DEBUG, ["o", "e", "w", "i", "d"])],
)
def test_verbosity_is_a_threshold(bridge: LogBridge, target: Any, verbosity: Any, shown: Any) -> None:
    bridge.verbosity = verbosity
    feed(bridge, ("none", "o\n"), ("error", "e\n"), ("warn", "w\n"), ("info", "i\n"), ("debug", "d\n"))
    assert [line for _, line in target.lines] == shown


def test_the_default_shows_errors_only(target: Any) -> None:
    quiet = LogBridge(target)
    feed(quiet, ("warn", "w\n"), ("error", "e\n"))
    assert [line for _, line in target.lines] == ["e"]


def test_filters_hide_lines_but_exceptions_still_get_them(bridge: LogBridge, target: Any) -> None:
    bridge.filters = ("CUDA graph",)
    feed(bridge, ("error", "a CUDA graph was made\n"), ("error", "a cuda GRAPH was made\n"))
    assert [line for _, line in target.lines] == ["a cuda GRAPH was made"]
    bridge.filters_case_sensitive = False
    feed(bridge, ("error", "a cuda GRAPH was made\n"))
    assert len(target.lines) == 1
    assert len(bridge.lines_since(0)) == 3


def test_exceptions_get_the_serious_lines_since_the_mark(bridge: LogBridge) -> None:
    feed(bridge, ("error", "old\n"))
    mark = bridge.count
    feed(bridge, ("info", "noise\n"), ("warn", "careful\n"), ("error", "failed \n"), ("info", "\n"))
    assert bridge.lines_since(mark) == ("careful", "failed")
    assert bridge.lines_since(mark, 1) == ("failed",)
    assert bridge.lines_since(bridge.count) == ()
    mark = bridge.count
    feed(bridge, *(("info", f"{number}\n") for number in range(9)))
    assert bridge.lines_since(mark) == ("6", "7", "8")


def test_only_the_last_lines_are_remembered(target: Any) -> None:
    small = LogBridge(target, remembered=4)
    feed(small, *(("error", f"{number}\n") for number in range(100)))
    assert small.lines_since(0) == ("96", "97", "98", "99")


def test_an_aborted_evaluation_is_no_error(bridge: LogBridge, target: Any) -> None:
    bridge.verbosity = ERROR
    feed(
        bridge,
        ("error", "graph_compute: ggml_backend_sched_graph_compute_async failed with error 1\n"),
        ("error", "llama_decode: failed to decode, ret = 2\n"),
        ("error", "llama_decode: failed to decode, ret = -3\n"),
    )
    assert [line for _, line in target.lines] == ["llama_decode: failed to decode, ret = -3"]


def test_nothing_is_raised_into_native_code(bridge: LogBridge, target: Any) -> None:
    class Failing(logging.Handler):
        def handle(self, _record: Any) -> None:
            raise ZeroDivisionError

    target.addHandler(Failing())
    bridge.feed(4, b"a line\n")
    bridge.feed(4, None)
    bridge.feed(99, b"\xff\xfe unknown level and no UTF-8\n")
    assert target.lines[-1][1].endswith("unknown level and no UTF-8")


def test_an_interrupt_in_a_callback_is_raised_afterwards(bridge: LogBridge, target: Any) -> None:
    class Interrupted(logging.Handler):
        def handle(self, _record: Any) -> None:
            raise KeyboardInterrupt

    target.addHandler(Interrupted())
    bridge.feed(4, b"a line\n")
    with pytest.raises(KeyboardInterrupt):
        bridge.raise_interrupt()
    bridge.raise_interrupt()


def test_lines_go_to_the_present_stderr_unless_logging_is_set_up(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    handler = logbridge._StderrHandler()
    record = logging.LogRecord("x", logging.ERROR, "", 0, "%s", ("hello",), None)
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    handler.emit(record)
    monkeypatch.setattr(root, "handlers", [logging.NullHandler()])
    handler.emit(record)
    assert capsys.readouterr().err == "hello\n"
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(sys, "stderr", None)
    handler.emit(record)


def test_the_settings_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logbridge, "bridge", LogBridge(logging.getLogger("tests.logbridge")))
    logbridge.set_verbosity(99)
    assert logbridge.get_verbosity() == 5
    logbridge.set_verbosity(-1)
    assert logbridge.get_verbosity() == 0
    logbridge.set_filters(["a", ""], case_sensitive=False)
    assert logbridge.get_filters() == ("a",)


def test_cuda_without_a_gpu_is_no_error(bridge: LogBridge, target: Any) -> None:
    feed(bridge, ("error", "ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected\n"))
    feed(bridge, ("error", "CUDA error: out of memory\n"))
    assert target.lines == [
        (logging.INFO, "ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected"),
        (logging.ERROR, "CUDA error: out of memory"),
    ]


def test_lines_of_the_package_itself_obey_the_same_settings(bridge: LogBridge, target: Any) -> None:
    bridge.say(WARN, "no CUDA device")
    bridge.verbosity = ERROR
    bridge.say(WARN, "not shown")
    assert target.lines == [(logging.WARNING, "no CUDA device")]
    assert bridge.lines_since(0) == ("no CUDA device", "not shown")
