from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from llama_cpp._engine.errors import GrammarError, TokenRangeError
from llama_cpp._engine.grammar import GrammarSampler, incomplete
from tests.package.engine.fake_samplers import FakeSamplers
from tests.package.engine.fakes import EOS, N_VOCAB, FakeLlama

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llama_cpp._engine.vocab import Vocab


@pytest.fixture
def samplers(native: FakeLlama) -> FakeSamplers:
    return FakeSamplers(native)


@pytest.fixture
def vocab(native: FakeLlama, samplers: FakeSamplers) -> Iterator[Vocab]:  # noqa: ARG001 - it has to come first
    with native.model() as model:
        yield model.vocab


def feed(grammar: Any, text: Any) -> None:
    for token in text:
        grammar.accept(token)


@pytest.mark.parametrize("text", ["", "  \n", "a\0b"])
def test_text_that_is_no_grammar(vocab: Vocab, text: Any) -> None:
    with pytest.raises(GrammarError, match="NUL"):
        GrammarSampler(vocab, text)


def test_a_grammar_that_does_not_parse(vocab: Vocab) -> None:
    with pytest.raises(GrammarError, match="could not be parsed, or has no rule 'top'"):
        GrammarSampler(vocab, "bad", root="top")


def test_a_token_is_asked_about_before_it_is_accepted(vocab: Vocab) -> None:
    with GrammarSampler(vocab, "ab") as grammar:
        assert [grammar.allows(token) for token in (97, 98, EOS)] == [True, False, False]
        for token in (98, EOS):
            with pytest.raises(GrammarError, match=f"token {token}"):
                grammar.accept(token)
        with grammar.clone() as copy:
            feed(copy, b"ab")
            copy.accept(EOS)
        feed(grammar, b"ab")
        grammar.reset()
        feed(grammar, b"ab")
        with pytest.raises(TokenRangeError):
            grammar.accept(N_VOCAB)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (b"", b""),
        (b"abc", b""),
        ("é語😀".encode(), b""),
        ("aé".encode()[:-1], b"\xc3"),
        ("a語".encode()[:-1], b"\xe8\xaa"),
        ("a語".encode()[:-2], b"\xe8"),
        ("😀".encode()[:-1], b"\xf0\x9f\x98"),
        (b"\x80\x80", b""),
    ],
)
def test_the_beginning_of_a_character(text: bytes, rest: bytes) -> None:
    assert incomplete(text) == rest


class Witness:
    """Takes every token but `refused`."""

    def __init__(self, refused: int) -> None:
        self.refused, self.seen = refused, list[tuple[int, bytes]]()

    def takes(self, token: int, piece: bytes) -> bool:
        assert piece == bytes([token])
        return token != self.refused

    def accept(self, token: int, piece: bytes) -> None:
        self.seen.append((token, piece))

    def reset(self) -> None:
        self.seen.clear()

    def clone(self) -> Witness:
        copy = Witness(self.refused)
        copy.seen = list(self.seen)
        return copy


def test_a_witness_is_asked_and_told(vocab: Vocab) -> None:
    witness = Witness(98)
    with GrammarSampler(vocab, "ab", witness=witness) as grammar:
        grammar.accept(97)
        assert not grammar.allows(98)
        with pytest.raises(GrammarError):
            grammar.accept(98)
        witness.refused = -1
        with grammar.clone() as copy:
            copy.accept(98)
            copy.accept(EOS)  # which is no part of the text
        assert witness.seen == [(97, b"a")]
        grammar.reset()
        assert witness.seen == []
        assert not grammar.prefixes_decide


def test_within_a_character_prefixes_say_nothing(native: FakeLlama, vocab: Vocab) -> None:
    native.replace("llama_token_to_piece", lambda _v, token, buffer, *_: put(buffer, bytes([token])))
    with GrammarSampler(vocab, "a\u00e9") as grammar:
        states = [grammar.prefixes_decide]
        for token in (97, 0xC3, 0xA9):
            grammar.accept(token)
            states.append(grammar.prefixes_decide)
    assert states == [True, True, False, True]


def put(buffer: Any, piece: Any) -> Any:
    buffer[: len(piece)] = piece
    return len(piece)
