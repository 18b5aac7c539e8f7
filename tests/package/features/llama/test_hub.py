"""Which file of a repository is meant."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from llama_cpp._features.llama import hub

FILES = ["README.md", "model-q4_0.gguf", "model-q8_0.gguf", "parts/model-00001-of-00002.gguf"]


class FakeHub:
    def __init__(self) -> None:
        self.listed = 0
        self.fetched: list[str] = []
        self.HfApi = lambda: SimpleNamespace(list_repo_files=self.list_repo_files)

    def list_repo_files(self, _repo: str) -> list[str]:
        self.listed += 1
        return FILES

    def hf_hub_download(self, _repo: str, filename: str, **_: Any) -> str:
        self.fetched.append(filename)
        return f"/cache/{filename}"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    made = FakeHub()
    monkeypatch.setitem(sys.modules, "huggingface_hub", made)  # type: ignore[arg-type]
    return made


def test_a_plain_name_is_not_looked_up(fake: FakeHub) -> None:
    assert hub.fetch("o/r", "model-q4_0.gguf") == "/cache/model-q4_0.gguf"
    assert fake.listed == 0


def test_a_pattern_that_matches_one_file(fake: FakeHub) -> None:
    assert hub.fetch("o/r", "*q8_0.gguf", additional_files=["parts/*"]) == "/cache/model-q8_0.gguf"
    assert fake.fetched == ["model-q8_0.gguf", "parts/model-00001-of-00002.gguf"]


@pytest.mark.parametrize(("pattern", "text"), [("*.gguf", "3 files"), ("*q2*", "no file")])
@pytest.mark.usefixtures("fake")
def test_patterns_that_are_not_clear(pattern: str, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        hub.fetch("o/r", pattern)


def test_without_the_package_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ImportError, match="pip install huggingface-hub"):
        hub.fetch("o/r", "x.gguf")
