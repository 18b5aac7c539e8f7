from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from llama_cpp._engine.errors import ClosedError, TokenizeError, TokenRangeError
from tests.package.engine.fakes import BOS, EOS, N_VOCAB, FakeLlama

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llama_cpp._engine.model import Model
    from llama_cpp._engine.vocab import Vocab


@pytest.fixture
def model(native: FakeLlama) -> Iterator[Model]:
    with native.model() as made:
        yield made


@pytest.fixture
def vocab(model: Model) -> Vocab:
    return model.vocab


def test_tokenize_takes_nul_bytes_and_text(vocab: Vocab) -> None:
    assert vocab.tokenize(b"a\0b") == [BOS, 97, 0, 98]
    assert vocab.tokenize("é", add_special=False) == [0xC3, 0xA9]
    assert vocab.tokenize("", add_special=False) == []
    assert vocab.tokenize_array("a").dtype == np.int32


def test_a_buffer_that_is_too_small_is_made_to_fit(native: FakeLlama, vocab: Vocab) -> None:
    asked = []

    def greedy(_vocab: Any, _text: Any, _size: Any, buffer: Any, capacity: Any, *_: Any) -> Any:
        asked.append(capacity)
        if capacity < 50:
            return -50
        buffer[:50] = [1] * 50
        return 50

    native.replace("llama_tokenize", greedy)
    assert len(vocab.tokenize("a")) == 50
    assert asked == [9, 50]


@pytest.mark.parametrize("code", [-(2**31), -50])
def test_native_failure_is_an_error(native: FakeLlama, vocab: Vocab, code: int) -> None:
    native.replace("llama_tokenize", lambda *_: code)
    with pytest.raises(TokenizeError):
        vocab.tokenize("a")


def test_a_vocabulary_without_what_it_asks_for(native: FakeLlama) -> None:
    native.replace("llama_vocab_bos", lambda _vocab: -1)
    with native.model() as model:
        with pytest.raises(TokenizeError, match="add_special=False"):
            model.vocab.tokenize("a")
        assert model.vocab.tokenize("a", add_special=False) == [97]


def test_a_model_without_vocabulary(native: FakeLlama) -> None:
    native.replace("llama_vocab_type", lambda _vocab: 0)
    with native.model() as model:
        for call in (lambda: model.vocab.tokenize("a"), lambda: model.vocab.piece(1), lambda: model.vocab.detokenize([1])):
            with pytest.raises(TokenizeError, match="no vocabulary"):
                call()


def test_pieces_are_read_once_and_sized_exactly(native: FakeLlama, vocab: Vocab) -> None:
    assert [vocab.piece(token) for token in (97, 1, 97, 1)] == [b"a", b"\1" * 100, b"a", b"\1" * 100]
    assert native.calls == [("piece", 97), ("piece", 1), ("piece", 1)]


def test_special_pieces_are_kept_apart(vocab: Vocab) -> None:
    assert (vocab.piece(EOS), vocab.piece(EOS, special=True), vocab.piece(EOS)) == (b"", b"<special>", b"")


def test_detokenize_grows_its_buffer(vocab: Vocab) -> None:
    assert vocab.detokenize([97] * 100) == b"a" * 1000
    assert vocab.detokenize(np.array([97, 98], np.int64)) == b"ab" * 10
    assert vocab.detokenize([]) == b""


@pytest.mark.parametrize("token", [-1, N_VOCAB, 2**31])
def test_tokens_out_of_range_never_reach_c(native: FakeLlama, vocab: Vocab, token: int) -> None:
    for call in (vocab.piece, vocab.text, vocab.score, vocab.attributes, vocab.is_eog, vocab.is_control, vocab.check):
        with pytest.raises(TokenRangeError, match=f"token {token}"):
            call(token)
    with pytest.raises(TokenRangeError, match=f"token {token}"):
        vocab.detokenize([0, token])
    assert native.calls == []


@pytest.mark.parametrize("tokens", [[0.5], [[1]], ["a"]])
def test_what_is_no_list_of_tokens_is_refused(vocab: Vocab, tokens: Any) -> None:
    with pytest.raises(TokenRangeError, match="flat sequence of integers"):
        vocab.detokenize(tokens)


def test_end_tokens_are_asked_for_once(native: FakeLlama, vocab: Vocab) -> None:
    assert [vocab.is_eog(token) for token in (EOS, 5, EOS, 5)] == [True, False, True, False]
    assert native.calls == [("eog", EOS), ("eog", 5)]


def test_use_after_close(model: Model, vocab: Vocab) -> None:
    model.close()
    with pytest.raises(ClosedError, match="Model is closed"):
        vocab.tokenize("a")


def test_a_dropped_model_frees_its_memory_at_once(native: FakeLlama) -> None:
    gc.disable()
    try:
        with pytest.warns(ResourceWarning):
            native.model().vocab.tokenize("a")
    finally:
        gc.enable()
    assert [what for what, _ in native.calls] == ["free model"]


def test_the_vocabulary_keeps_its_model_alive(native: FakeLlama) -> None:
    vocab = native.model().vocab
    gc.collect()
    assert vocab.tokenize("a") == [BOS, 97]
    assert vocab.model.vocab is vocab
    vocab.model.close()
