from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llama_cpp._engine.handle import live_handles
from tests.package.engine.fakes import FakeLlama

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> FakeLlama:
    return FakeLlama(monkeypatch)


@pytest.fixture(autouse=True)
def _nothing_is_left_open() -> Iterator[None]:
    before = live_handles()
    yield
    assert live_handles() == before
