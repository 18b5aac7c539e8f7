from __future__ import annotations

import ctypes
from typing import Any

import pytest

from llama_cpp._native import log_route
from llama_cpp._native.bindings import llama
from llama_cpp._native.bindings.declarations.ggml import ggml_log_callback


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The callbacks that native code was given, in order; before that someone had set their own."""
    given = []
    theirs = ggml_log_callback(lambda *_: None)

    def get(callback: Any, user_data: Any) -> None:
        ctypes.memmove(ctypes.addressof(callback._obj), ctypes.addressof(theirs), ctypes.sizeof(ctypes.c_void_p))
        user_data._obj.value = 42

    monkeypatch.setattr(log_route._Route, "listened_to", False)
    monkeypatch.setattr(llama, "llama_log_get", get)
    monkeypatch.setattr(llama, "llama_log_set", lambda callback, data: given.append((address(callback), data)))
    given.append((address(theirs), ctypes.c_void_p(42)))
    return given


def address(callback: Any) -> Any:
    return ctypes.cast(callback, ctypes.c_void_p).value


def test_loading_is_unheard_and_the_users_callback_comes_back(installed: Any) -> None:
    with log_route.unheard():
        assert installed[1:] == [(address(log_route.ignoring_callback()), None)]
    assert installed[2][0] == installed[0][0]
    assert installed[2][1].value == 42


def test_the_callback_comes_back_after_a_failure(installed: Any) -> None:
    with pytest.raises(ZeroDivisionError), log_route.unheard():
        raise ZeroDivisionError
    assert installed[2][0] == installed[0][0]


def test_a_listener_goes_on_hearing(installed: Any) -> None:
    log_route.mark_listened_to()
    with log_route.unheard():
        assert len(installed) == 1


def test_the_ignoring_callback_takes_any_line() -> None:
    log_route.ignoring_callback()(4, b"a line\n", None)
