"""The tokenizer objects of the public API: the model's own, from a loaded model or from a file alone, and a foreign one in its place."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rig import material, profiles
from rig.generation import GREEDY, text

from llama_cpp import Llama
from llama_cpp.llama_tokenizer import BaseLlamaTokenizer, LlamaHFTokenizer, LlamaTokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXT = "Hello, wörld! <s> 12"
PROPERTY = settings(max_examples=profiles.examples(50), suppress_health_check=[HealthCheck.function_scoped_fixture])


def test_a_models_tokenizer_is_the_model(synthetic: Llama) -> None:
    tokenizer = synthetic.tokenizer()
    assert isinstance(tokenizer, LlamaTokenizer)
    assert isinstance(synthetic.tokenizer_, BaseLlamaTokenizer)
    tokens = tokenizer.tokenize(TEXT.encode())
    assert tokens == tokenizer.encode(TEXT) == synthetic.tokenize(TEXT.encode(), special=True)
    assert tokenizer.tokenize(TEXT.encode(), add_bos=False, special=False) == synthetic.tokenize(TEXT.encode(), add_bos=False)
    assert tokenizer.decode(tokenizer.encode(TEXT, add_bos=False, special=False)) == TEXT
    assert tokenizer.detokenize(tokens, special=True).startswith(b"<s>")


def test_a_file_is_enough() -> None:
    path = str(material.model(material.SYNTH_LLAMA))
    tokenizer = LlamaTokenizer.from_ggml_file(path)
    with Llama(path, vocab_only=True, verbose=False) as llama:
        assert tokenizer.encode(TEXT) == llama.tokenizer().encode(TEXT)
        assert llama.n_vocab() > 300
        with pytest.raises(RuntimeError, match="vocab_only"):
            llama.eval([1])
    del tokenizer


@PROPERTY
@given(tokens=st.lists(st.integers(0, 355), max_size=12))
def test_pieces_join_to_the_whole(shared_synthetic: Llama, tokens: list[int]) -> None:
    shown: list[int] = []
    found = b""
    for token in tokens:
        found += shared_synthetic.detokenize([token], prev_tokens=shown)
        shown.append(token)
    assert found == shared_synthetic.detokenize(tokens)


@PROPERTY
@given(content=st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_text_comes_back(shared_synthetic: Llama, content: str) -> None:
    tokens = shared_synthetic.tokenize(content.encode(), add_bos=False)
    assert shared_synthetic.detokenize(tokens) == content.encode()


class Foreign:
    """Behaves as a tokenizer of `transformers` does, with the vocabulary of a loaded model."""

    def __init__(self, llama: Llama) -> None:
        self._own = LlamaTokenizer(llama)
        self.asked: list[str] = []

    def encode(self, content: str, *, add_special_tokens: bool) -> list[int]:
        self.asked.append(content)
        return self._own.tokenize(content.encode(), add_bos=add_special_tokens)

    def decode(self, tokens: Sequence[int], *, skip_special_tokens: bool) -> str:
        return self._own.detokenize(tokens, special=not skip_special_tokens).decode("utf-8", "replace")


def test_a_foreign_tokenizer_reads_the_prompt(synthetic: Llama) -> None:
    foreign = Foreign(synthetic)
    due = text(synthetic.create_completion("Once upon", max_tokens=8, **GREEDY))
    with Llama(str(material.model(material.SYNTH_LLAMA)), n_ctx=256, tokenizer=LlamaHFTokenizer(foreign), verbose=False) as llama:
        assert llama.tokenize(b"Once upon", special=True) == synthetic.tokenize(b"Once upon")
        assert text(llama.create_completion("Once upon", max_tokens=8, **GREEDY)) == due
        assert llama.tokenizer_.hf_tokenizer is foreign
    assert foreign.asked.count("Once upon") == 2


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        (BaseLlamaTokenizer.tokenize, {"text": ..., "add_bos": True, "special": True}),
        (BaseLlamaTokenizer.detokenize, {"tokens": ..., "prev_tokens": None, "special": False}),
        (LlamaTokenizer.encode, {"text": ..., "add_bos": True, "special": True}),
        (LlamaTokenizer.decode, {"tokens": ...}),
        (Llama.tokenize, {"text": ..., "add_bos": True, "special": False}),
        (Llama.detokenize, {"tokens": ..., "prev_tokens": None, "special": False}),
    ],
)
def test_signatures(method: Any, parameters: dict[str, Any]) -> None:
    stated = inspect.signature(method).parameters.values()
    assert {each.name: ... if each.default is each.empty else each.default for each in stated if each.name != "self"} == parameters
