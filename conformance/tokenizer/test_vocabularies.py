"""llama.cpp's own vocabularies give the tokens that llama.cpp's tests expect, and text comes back whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from rig import material

if TYPE_CHECKING:
    from collections.abc import Iterator

from llama_cpp import Llama

SEPARATOR = b"\n__ggml_vocab_test__\n"
# Without the vendored tree the one entry skips, or fails where material is required.
NAMES = material.vocabulary_names() or ["ggml-vocab-llama-bpe"]

# llama.cpp cleans up the spaces around punctuation and apostrophes when it detokenises these.
DROP_SPACES = {f"ggml-vocab-{name}" for name in ("bert-bge", "falcon", "gemma-4", "gpt-2", "llama-bpe", "mpt", "refact", "starcoder")}

# WordPiece lowers case and drops what it doesn't know.
LOSSY = {"ggml-vocab-bert-bge"}

# One vocabulary of each kind is enough to prove the way through another Python.
OF_EACH_KIND = {f"ggml-vocab-{name}" for name in ("bert-bge", "llama-spm", "llama-bpe", "gpt-2")}


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """A vocabulary file that is open, and texts with the tokens that llama.cpp expects."""

    name: str
    llama: Llama
    cases: list[tuple[bytes, list[int]]]

    def same(self, text: bytes, other: bytes) -> bool:
        """Equality; without spaces where the vocabulary asks for spaces around punctuation to be dropped."""
        if self.name in DROP_SPACES:
            return text.replace(b" ", b"") == other.replace(b" ", b"")
        return text == other


def opened(name: str) -> Llama:
    return Llama(str(material.vendor_file(f"models/{name}.gguf")), vocab_only=True, verbose=False)


def cases(name: str) -> list[tuple[bytes, list[int]]]:
    """Pairs of text and expected tokens."""
    texts = material.vendor_file(f"models/{name}.gguf.inp").read_bytes().split(SEPARATOR)
    lines = material.vendor_file(f"models/{name}.gguf.out").read_text().splitlines()
    if len(texts) == len(lines) + 1 and texts[-1] == b"":
        texts.pop()  # most files end with a separator
    pairs = [(text, [int(token) for token in line.split()]) for text, line in zip(texts, lines, strict=True)]
    assert len(pairs) > 30
    return pairs


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=() if name in OF_EACH_KIND else pytest.mark.once_per_wheel) for name in NAMES]
)
def vocabulary(request: pytest.FixtureRequest) -> Iterator[Vocabulary]:
    """Each vocabulary with its cases."""
    name = request.param
    with opened(name) as llama:
        yield Vocabulary(name=name, llama=llama, cases=cases(name))


@pytest.mark.every_processor
def test_expected_tokens(vocabulary: Vocabulary) -> None:
    llama = vocabulary.llama
    assert [text for text, tokens in vocabulary.cases if llama.tokenize(text, add_bos=False, special=False) != tokens] == []


def test_text_comes_back(vocabulary: Vocabulary) -> None:
    wrong = [text for text, tokens in vocabulary.cases if not vocabulary.same(vocabulary.llama.detokenize(tokens), text)]
    if vocabulary.name in LOSSY:
        assert len(wrong) > 10, "it isn't lossy any more: remove it from the list"
    else:
        assert wrong == []


def test_pieces_join_to_the_whole(vocabulary: Vocabulary) -> None:
    """Detokenising one token after another, each with those before it, gives what all at once give."""
    llama = vocabulary.llama
    for _, tokens in vocabulary.cases:
        pieces = [llama.detokenize([token], prev_tokens=tokens[:index]) for index, token in enumerate(tokens)]
        assert vocabulary.same(b"".join(pieces), llama.detokenize(tokens))


def test_special_tokens_are_text_unless_asked_for() -> None:
    name = "ggml-vocab-llama-bpe"
    with opened(name) as llama:
        marker = b"<|end_of_text|>"
        parsed = llama.tokenize(marker, add_bos=False, special=True)
        assert len(parsed) == 1
        plain = llama.tokenize(marker, add_bos=False, special=False)
        assert len(plain) > 1
        assert llama.detokenize(plain) == marker
        assert llama.detokenize(parsed, special=True) == marker
        assert llama.detokenize(parsed, special=False) == b""


def test_beginning_of_sequence_is_added_on_request() -> None:
    with opened("ggml-vocab-llama-spm") as llama:
        with_bos, without = llama.tokenize(b"Hello", add_bos=True), llama.tokenize(b"Hello", add_bos=False)
        assert with_bos == [llama.token_bos(), *without]


@pytest.mark.parametrize("text", [b"", b"a\0b", b"\xff\xfe", "\U0001f999".encode()], ids=["empty", "nul", "invalid-utf-8", "emoji"])
@pytest.mark.every_processor
def test_odd_texts(text: bytes) -> None:
    with opened("ggml-vocab-gpt-2") as llama:
        tokens = llama.tokenize(text, add_bos=False)
        assert all(0 <= token < llama.n_vocab() for token in tokens)
        if b"\xff" not in text:
            assert llama.detokenize(tokens) == text
