"""llama.cpp's own vocabularies give the tokens that llama.cpp's tests expect, and text comes back whole."""

from __future__ import annotations

import pytest
from rig import material

from llama_cpp import Llama

SEPARATOR = b"\n__ggml_vocab_test__\n"
# Without the vendored tree the one entry skips, or fails where material is required.
NAMES = material.vocabulary_names() or ["ggml-vocab-llama-bpe"]

# llama.cpp cleans up the spaces around punctuation and apostrophes when it detokenises these.
DROP_SPACES = {f"ggml-vocab-{name}" for name in ("bert-bge", "falcon", "gpt-2", "llama-bpe", "mpt", "refact", "starcoder")}


def cases(name: str) -> list[tuple[bytes, list[int]]]:
    """Pairs of text and expected tokens."""
    texts = material.vendor_file(f"models/{name}.gguf.inp").read_bytes().split(SEPARATOR)
    lines = material.vendor_file(f"models/{name}.gguf.out").read_text().splitlines()
    if len(texts) == len(lines) + 1 and texts[-1] == b"":
        texts.pop()  # most files end with a separator
    pairs = [(text, [int(token) for token in line.split()]) for text, line in zip(texts, lines, strict=True)]
    assert len(pairs) > 30
    return pairs


def vocabulary(name: str) -> Llama:
    return Llama(str(material.vendor_file(f"models/{name}.gguf")), vocab_only=True, verbose=False)


@pytest.mark.parametrize("name", NAMES)
def test_expected_tokens(name: str) -> None:
    with vocabulary(name) as llama:
        wrong = [text for text, tokens in cases(name) if llama.tokenize(text, add_bos=False, special=False) != tokens]
    assert wrong == []


@pytest.mark.parametrize("name", NAMES)
def test_byte_level_vocabularies_give_the_text_back(name: str) -> None:
    with vocabulary(name) as llama:
        if llama.metadata["tokenizer.ggml.model"] != "gpt2":
            pytest.skip("only byte-level vocabularies keep every byte")
        wrong = [text for text, tokens in cases(name) if comparable(name, llama.detokenize(tokens)) != comparable(name, text)]
    assert wrong == []


@pytest.mark.parametrize("name", NAMES)
def test_pieces_join_to_the_whole(name: str) -> None:
    """Detokenising one token after another, each with those before it, gives what all at once give."""
    with vocabulary(name) as llama:
        for _, tokens in cases(name):
            pieces = [llama.detokenize([token], prev_tokens=tokens[:index]) for index, token in enumerate(tokens)]
            assert comparable(name, b"".join(pieces)) == comparable(name, llama.detokenize(tokens))


def comparable(name: str, text: bytes) -> bytes:
    """`text`, without its spaces where the vocabulary asks for spaces before punctuation to be dropped."""
    return text.replace(b" ", b"") if name in DROP_SPACES else text


def test_special_tokens_are_text_unless_asked_for() -> None:
    name = "ggml-vocab-llama-bpe"
    with vocabulary(name) as llama:
        marker = b"<|end_of_text|>"
        parsed = llama.tokenize(marker, add_bos=False, special=True)
        assert len(parsed) == 1
        plain = llama.tokenize(marker, add_bos=False, special=False)
        assert len(plain) > 1
        assert llama.detokenize(plain) == marker
        assert llama.detokenize(parsed, special=True) == marker
        assert llama.detokenize(parsed, special=False) == b""


def test_beginning_of_sequence_is_added_on_request() -> None:
    with vocabulary("ggml-vocab-llama-spm") as llama:
        with_bos, without = llama.tokenize(b"Hello", add_bos=True), llama.tokenize(b"Hello", add_bos=False)
        assert with_bos == [llama.token_bos(), *without]


@pytest.mark.parametrize("text", [b"", b"a\0b", b"\xff\xfe", "\U0001f999".encode()], ids=["empty", "nul", "invalid-utf-8", "emoji"])
def test_odd_texts(text: bytes) -> None:
    with vocabulary("ggml-vocab-gpt-2") as llama:
        tokens = llama.tokenize(text, add_bos=False)
        assert all(0 <= token < llama.n_vocab() for token in tokens)
        if b"\xff" not in text:
            assert llama.detokenize(tokens) == text
