"""What a request says of adapters, in all its forms, without a model."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from llama_cpp._engine.adapter import PLAIN, ControlVector
from llama_cpp._features import adapters as adapters_module
from llama_cpp._features.adapters import Adapters

MODEL: Any = SimpleNamespace(n_embd=4, n_layer=3)


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Adapters:
    monkeypatch.setattr(adapters_module, "LoraAdapter", lambda _, path: f"adapter of {path}")
    made = Adapters(MODEL)
    made.load("a", "a.gguf")
    made.load("b", "b.gguf")
    return made


@pytest.mark.parametrize(
    "active",
    [
        {"a": 0.5, "b": 1.0},
        [("a", 0.5), ("b", 1.0)],
        [["a", 0.5], "b"],
        [{"name": "a", "scale": 0.5}, {"name": "b"}],
    ],
)
def test_every_form_names_adapters_and_scales(registry: Adapters, active: Any) -> None:
    assert registry.select(active).loras == (("adapter of a.gguf", 0.5), ("adapter of b.gguf", 1.0))


def test_nothing_said_is_the_default_and_an_empty_list_is_none(registry: Adapters) -> None:
    assert registry.select() is PLAIN
    registry.default = (("a", 2.0),)
    assert registry.select().loras == (("adapter of a.gguf", 2.0),)
    assert registry.select([]) is PLAIN
    registry.remove("a")
    assert registry.select() is PLAIN


@pytest.mark.parametrize(
    ("active", "error"),
    [(["c"], KeyError), (["a", "a"], ValueError), ([5], ValueError), ({"a": math.nan}, ValueError), ([{"scale": 1.0}], ValueError)],
)
def test_what_cannot_be_meant_is_refused(registry: Adapters, active: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        registry.select(active)


def test_a_name_is_used_once(registry: Adapters) -> None:
    with pytest.raises(ValueError, match="loaded already"):
        registry.load("a", "other.gguf")
    with pytest.raises(ValueError, match="not empty"):
        registry.load("", "other.gguf")
    assert registry.names == ["a", "b"]


def test_the_same_control_vector_is_the_same_adaptation(registry: Adapters) -> None:
    rows = np.ones((2, 4))
    assert registry.select(None, rows) == registry.select(None, rows)
    assert registry.select(None, rows) != registry.select(None, rows.copy())


@pytest.mark.parametrize("value", [{"data": [1.0] * 8}, [1.0] * 8, [[1.0] * 4] * 2])
def test_control_vectors_in_all_forms(registry: Adapters, value: Any) -> None:
    control = registry.select(None, value).control
    assert control is not None
    assert (control.directions.shape, control.first, control.last) == ((2, 4), 1, 2)


def test_layers_without_a_direction_stay_as_they_are() -> None:
    control = ControlVector.of(MODEL, [1.0] * 4, first=0, last=1)
    assert control.directions.tolist() == [[1.0] * 4, [0.0] * 4]


@pytest.mark.parametrize(
    "value",
    [
        {"data": [1.0] * 7},
        {"data": [1.0] * 12},
        {"data": [math.nan] * 4},
        {"data": [1.0] * 4, "layer_end": 3},
        {"data": [1.0] * 4, "layer_start": 2, "layer_end": 1},
        {"vector": [1.0] * 4},
    ],
)
def test_control_vectors_that_do_not_fit(registry: Adapters, value: Any) -> None:
    with pytest.raises(ValueError, match=r"control vector|layers"):
        registry.select(None, value)
