"""A model of bytes and a context with two sequences, without native code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llama_cpp._engine.handle import live_handles
from llama_cpp._features.internals.context import LlamaContext
from llama_cpp._features.internals.model import LlamaModel
from tests.package.engine.fakes import FakeLlama

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> FakeLlama:
    return FakeLlama(monkeypatch)


@pytest.fixture
def model(native: FakeLlama) -> Iterator[LlamaModel]:
    before = live_handles()
    with native.model() as made:
        yield LlamaModel.of(made)
    assert live_handles() == before


@pytest.fixture
def context(model: LlamaModel) -> LlamaContext:
    return LlamaContext(model)
