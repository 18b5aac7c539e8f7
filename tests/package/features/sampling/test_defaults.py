"""Defaults that a model's file replaces: told from the same number given by a caller, and read without trust."""

from __future__ import annotations

import inspect

import pytest

from llama_cpp import Llama
from llama_cpp._features.sampling.defaults import given, recommended


@pytest.mark.parametrize(
    "method", [Llama.create_completion, Llama.__call__, Llama.generate, Llama.sample], ids=lambda method: method.__name__
)
def test_signatures_offer_numbers_that_equal_what_they_stand_for(method: object) -> None:
    parameters = inspect.signature(method).parameters  # type: ignore[arg-type]
    temperature = parameters.get("temperature") or parameters["temp"]
    for parameter, value in ((temperature, 0.8), (parameters["top_k"], 40), (parameters["repeat_penalty"], 1.0)):
        assert parameter.default == value
        assert repr(parameter.default) == repr(value)
        assert not given(parameter.default)
        assert given(value)


def test_what_the_file_recommends() -> None:
    metadata = {
        "general.sampling.temp": "0.6",
        "general.sampling.top_k": "20",
        "general.sampling.penalty_repeat": "1.05",
        "general.sampling.mirostat": "2",
        "general.sampling.sequence": "top_k;temperature",
        "general.name": "x",
    }
    assert recommended(metadata) == {
        "temperature": 0.6, "top_k": 20, "repeat_penalty": 1.05, "mirostat_mode": 2, "order": ("top_k", "temperature"),
    }  # fmt: skip


def test_what_cannot_be_read_is_no_recommendation() -> None:
    assert recommended({"general.sampling.temp": "warm", "general.sampling.top_k": "1.5"}) == {}
