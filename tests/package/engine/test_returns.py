from __future__ import annotations

import logging

import pytest

from llama_cpp._engine import errors, logbridge, returns
from llama_cpp._engine.logbridge import LogBridge
from llama_cpp._engine.returns import raise_decode_failure, require_pointer, require_true, require_zero


@pytest.fixture(autouse=True)
def bridge(monkeypatch: pytest.MonkeyPatch) -> LogBridge:
    made = LogBridge(logging.getLogger("tests.returns"))
    monkeypatch.setattr(logbridge, "bridge", made)
    monkeypatch.setattr(returns, "bridge", made)
    return made


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (1, errors.CacheFullError),
        (2, errors.DecodeAborted),
        (-1, errors.InvalidBatchError),
        (-2, errors.DecodeAllocationError),
        (-3, errors.ComputeError),
        (-7, errors.ComputeError),
        (5, errors.DecodeError),
    ],
)
def test_decode_codes(bridge: LogBridge, code: int, kind: type[Exception]) -> None:
    bridge.feed(4, b"before\n")
    mark = returns.log_mark()
    bridge.feed(4, b"the reason\n")
    with pytest.raises(errors.DecodeError) as caught:
        raise_decode_failure(code, mark)
    assert type(caught.value) is kind
    assert caught.value.code == code
    assert caught.value.log_lines == ("the reason",)


def test_pointers() -> None:
    assert require_pointer(5, errors.StateError, "no", 0) == 5
    for null in (None, 0):
        with pytest.raises(errors.StateError, match="no"):
            require_pointer(null, errors.StateError, "no", 0)


def test_an_interrupt_comes_before_the_failure(bridge: LogBridge) -> None:
    bridge._interrupt = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        require_pointer(None, errors.StateError, "no", 0)


def test_flags_and_codes() -> None:
    require_true(True, errors.StateError, "no", 0)
    require_zero(0, errors.StateError, "no", 0)
    with pytest.raises(errors.StateError):
        require_true(False, errors.StateError, "no", 0)
    with pytest.raises(errors.StateError, match=r"no \(code 3\)"):
        require_zero(3, errors.StateError, "no", 0)
