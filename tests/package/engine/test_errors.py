from __future__ import annotations

import inspect
from typing import Any

import pytest

from llama_cpp._engine import errors
from llama_cpp._engine.errors import (
    CacheFullError,
    ContextCreateError,
    DecodeError,
    InvalidArgumentError,
    LlamaError,
    ModelFileNotFoundError,
    ModelLoadError,
    NativeCallError,
    TokenRangeError,
)


def classes() -> Any:
    return [each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, BaseException)]


def test_every_class_is_exported_and_has_the_root() -> None:
    assert sorted(each.__name__ for each in classes()) == sorted(errors.__all__)
    assert all(issubclass(each, LlamaError) and each.__doc__ for each in classes())
    assert issubclass(LlamaError, RuntimeError)


@pytest.mark.parametrize("kind", [InvalidArgumentError, TokenRangeError, ModelLoadError, ModelFileNotFoundError, ContextCreateError])
def test_what_programs_expect_as_value_error(kind: type[Exception]) -> None:
    assert issubclass(kind, ValueError)


def test_a_native_failure_carries_code_and_log() -> None:
    error = CacheFullError("no room", code=1, log_lines=["decode: failed", "second"])
    assert isinstance(error, DecodeError)
    assert (error.code, error.log_lines) == (1, ("decode: failed", "second"))
    assert str(error) == "no room\n  log: decode: failed\n  log: second"
    assert str(NativeCallError("plain")) == "plain"
