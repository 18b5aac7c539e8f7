import pytest

from llama_cpp._engine.handle import live_handles
from tests.package.engine.fakes import FakeLlama


@pytest.fixture
def native(monkeypatch):
    return FakeLlama(monkeypatch)


@pytest.fixture(autouse=True)
def _nothing_is_left_open():
    before = live_handles()
    yield
    assert live_handles() == before
