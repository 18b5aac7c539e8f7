"""A Hugging Face tokenizer behind the interface of the package: what it is asked for, and characters over several tokens."""

from __future__ import annotations

import sys
import types
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._features.tokenizer.huggingface import LlamaHFTokenizer

START = 256


class Bytes:
    """A tokenizer of `transformers` with one token per byte, and one that begins a text."""

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        return [START] * add_special_tokens + list(text.encode())

    def decode(self, tokens: Sequence[int], *, skip_special_tokens: bool) -> str:
        marks = "" if skip_special_tokens else "<s>" * list(tokens).count(START)
        return marks + bytes(token for token in tokens if token != START).decode("utf-8", "replace")


@pytest.fixture
def tokenizer() -> LlamaHFTokenizer:
    return LlamaHFTokenizer(Bytes())


def test_special_tokens_are_its_own_affair(tokenizer: LlamaHFTokenizer) -> None:
    assert tokenizer.tokenize(b"ab") == [START, 97, 98]
    assert tokenizer.tokenize(b"ab", special=False) == [97, 98]
    assert tokenizer.tokenize(b"ab", add_bos=False) == [START, 97, 98]
    assert tokenizer.detokenize([START, 97]) == b"a"
    assert tokenizer.detokenize([START, 97], special=True) == b"<s>a"
    assert isinstance(tokenizer.hf_tokenizer, Bytes)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufffd"), max_size=10), st.integers(1, 3))
def test_pieces_join_to_the_text_whatever_the_cuts(text: str, step: int) -> None:
    tokenizer = LlamaHFTokenizer(Bytes())
    tokens = [START, *tokenizer.tokenize(text.encode(), special=False)]
    found, shown = b"", [START]
    for begin in range(1, len(tokens), step):
        piece = tokenizer.detokenize(tokens[begin : begin + step], prev_tokens=shown)
        assert piece.decode("utf-8") is not None
        found, shown = found + piece, tokens[: begin + step]
    assert found == text.encode()


def test_broken_text_comes_with_what_follows(tokenizer: LlamaHFTokenizer) -> None:
    assert tokenizer.detokenize([0xE2], prev_tokens=[97]) == b""
    assert tokenizer.detokenize([98], prev_tokens=[97, 0xE2]) == "\ufffdb".encode()


def test_it_is_loaded_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    class AutoTokenizer:
        @staticmethod
        def from_pretrained(name: str) -> Bytes:
            loaded.append(name)
            return Bytes()

    transformers: Any = types.ModuleType("transformers")
    transformers.AutoTokenizer = AutoTokenizer
    monkeypatch.setitem(sys.modules, "transformers", transformers)
    assert LlamaHFTokenizer.from_pretrained("me/model").tokenize(b"a") == [START, 97]
    assert loaded == ["me/model"]


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ImportError, match="pip install transformers"):
        LlamaHFTokenizer.from_pretrained("me/model")
