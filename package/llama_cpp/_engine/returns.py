"""One checker per return convention of the C API: what comes back becomes a value or an exception."""

from __future__ import annotations

from typing import TypeVar

from .errors import (
    CacheFullError,
    ComputeError,
    DecodeAborted,
    DecodeAllocationError,
    DecodeError,
    InvalidBatchError,
    NativeCallError,
)
from .logbridge import bridge, last_lines

P = TypeVar("P", bound=int)

_DECODE_FAILURES: dict[int, tuple[type[DecodeError], str]] = {
    1: (CacheFullError, "no room in the context for this batch; use a larger n_ctx or remove tokens from memory"),
    2: (DecodeAborted, "evaluation was aborted"),
    -1: (InvalidBatchError, "the batch was refused: positions of a sequence must follow on what memory holds"),
    -2: (DecodeAllocationError, "memory for the evaluation could not be allocated"),
    -3: (ComputeError, "the computation failed"),
}


def log_mark() -> int:
    """Where the log stands now: hand it to a checker, so that it quotes only what came after."""
    return bridge.count


def require_pointer(pointer: P | None, failure: type[NativeCallError], message: str, mark: int) -> P:
    """Null means failure."""
    bridge.raise_interrupt()
    if not pointer:
        raise failure(message, log_lines=last_lines(since=mark))
    return pointer


def require_true(done: bool, failure: type[NativeCallError], message: str, mark: int) -> None:
    """False means failure."""
    if not done:
        raise failure(message, log_lines=last_lines(since=mark))


def require_zero(code: int, failure: type[NativeCallError], message: str, mark: int) -> None:
    """Anything but 0 means failure."""
    if code != 0:
        raise failure(f"{message} (code {code})", code=code, log_lines=last_lines(since=mark))


def raise_decode_failure(code: int, mark: int) -> None:
    """Raise the exception for a return code of llama_decode or llama_encode that is not 0."""
    failure, meaning = _DECODE_FAILURES.get(code, _DECODE_FAILURES[-3] if code < 0 else (DecodeError, "unknown failure"))
    raise failure(f"{meaning} (code {code})", code=code, log_lines=last_lines(since=mark))
