"""An adapter is taken out of force before it is freed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from llama_cpp._engine.adapter import Adaptation, LoraAdapter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from llama_cpp._engine.model import Model
    from tests.package.engine.fakes import FakeLlama


@pytest.fixture
def events(native: FakeLlama) -> list[Any]:
    """What is put in force, by count, and what is freed."""
    made: list[Any] = []
    native.replace("llama_adapter_lora_init", lambda *_: native.new())
    native.replace("llama_adapter_lora_free", lambda _: made.append("free"))
    native.replace("llama_set_adapters_lora", lambda _context, _adapters, count, _scales: made.append(count) or 0)
    return made


@pytest.fixture
def model(native: FakeLlama, events: list[Any]) -> Iterator[Model]:  # noqa: ARG001 - they have to come first
    with native.model() as made:
        yield made


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "adapter.gguf"
    path.touch()
    return path


def test_closing_one_of_two(native: FakeLlama, model: Model, events: list[Any], file: Path) -> None:
    one, other = LoraAdapter(model, file), LoraAdapter(model, file)
    contexts = [native.context(model), native.context(model)]
    for context in contexts:
        context.adapt(Adaptation(loras=((one, 1.0), (other, 0.5))))
    one.close()
    assert events == [2, 2, 1, 1, "free"]
    assert all(context.adaptation.loras == ((other, 0.5),) for context in contexts)


def test_one_that_is_in_force_nowhere_any_more(native: FakeLlama, model: Model, events: list[Any], file: Path) -> None:
    adapter, context, closed = LoraAdapter(model, file), native.context(model), native.context(model)
    for each in (context, closed):
        each.adapt(Adaptation(loras=((adapter, 1.0),)))
    context.adapt(Adaptation())
    closed.close()
    adapter.close()
    assert events == [1, 1, 0, "free"]
