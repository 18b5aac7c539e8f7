"""Who asks for a GPU that isn't there is warned; who takes what there is is not."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import pytest

from llama_cpp._features.llama import arguments, offload
from llama_cpp._native.cuda_driver import Absence

ABSENCE = Absence(reason="it is a toaster", remedy="buy a GPU")


def warned(monkeypatch: pytest.MonkeyPatch, asked: Any, *, gpus: int = 0, absences: tuple[Absence | None, ...] = (ABSENCE,)) -> list[str]:
    monkeypatch.setattr(offload, "start", lambda: None)
    monkeypatch.setattr(offload, "gpu_devices", lambda: gpus)
    monkeypatch.setattr(offload, "accelerators", lambda _backends: [SimpleNamespace(absence=absence) for absence in absences])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        offload.warn_without_gpu(asked, arguments._gpu_layers(asked), stacklevel=2)
    assert all(each.filename == __file__ and each.category is UserWarning for each in caught)
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("asked", [-1, "-1", -2, "all", 1, 99, "12"])
def test_a_wish_that_cuda_cannot_fulfil_is_answered_with_its_reason(monkeypatch: pytest.MonkeyPatch, asked: Any) -> None:
    assert warned(monkeypatch, asked) == [f"Llama: n_gpu_layers={asked!r} has no effect: {ABSENCE}"]


@pytest.mark.parametrize("asked", [0, "0", "auto", "AUTO"])
def test_no_wish_no_warning(monkeypatch: pytest.MonkeyPatch, asked: Any) -> None:
    assert warned(monkeypatch, asked) == []


@pytest.mark.parametrize("asked", ["all", 5])
def test_an_installation_for_the_cpu_says_that_it_is_one(monkeypatch: pytest.MonkeyPatch, asked: Any) -> None:
    (message,) = warned(monkeypatch, asked, absences=())
    assert "code for the CPU only" in message


@pytest.mark.parametrize("asked", ["auto", -1])
def test_as_many_as_can_be_is_none_where_there_is_code_for_the_cpu_only(monkeypatch: pytest.MonkeyPatch, asked: Any) -> None:
    assert warned(monkeypatch, asked, absences=()) == []


@pytest.mark.parametrize("asked", ["auto", -1, "all", 5])
@pytest.mark.parametrize("absences", [(), (None,), (ABSENCE,)])
def test_with_a_gpu_of_any_backend_nothing_is_said(monkeypatch: pytest.MonkeyPatch, asked: Any, absences: Any) -> None:
    assert warned(monkeypatch, asked, gpus=1, absences=absences) == []
