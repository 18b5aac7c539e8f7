from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from llama_cpp._engine.errors import GrammarError
from llama_cpp._engine.grammar import GrammarSampler
from llama_cpp._engine.lazy_grammar import LazyGrammar, spell
from tests.package.engine.fake_samplers import FakeSamplers
from tests.package.engine.fakes import BOS, EOS, FakeLlama

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


@pytest.fixture
def lazy(vocab: Vocab) -> Iterator[Any]:
    made = []

    def make(text: Any, **triggers: Any) -> Any:
        made.append(LazyGrammar(vocab, text, **triggers))
        return made[-1]

    yield make
    for each in made:
        each.handle.close()


def feed(grammar: Any, text: Any) -> None:
    for token in text:
        grammar.accept(token)


def test_a_lazy_grammar_needs_a_trigger(vocab: Vocab) -> None:
    with pytest.raises(GrammarError, match="needs trigger"):
        LazyGrammar(vocab, "ab")


@pytest.mark.parametrize("pattern", ["(a", "[z-a]", "*", "a{3,2}"])
def test_a_pattern_that_is_no_regular_expression(vocab: Vocab, pattern: str) -> None:
    with pytest.raises(GrammarError, match="no valid regular expression"):
        LazyGrammar(vocab, "ab", patterns=[pattern])


def test_asleep_everything_is_allowed(lazy: Any) -> None:
    grammar = lazy("ab", patterns=["TOOL"])
    assert grammar.allows(EOS)
    feed(grammar, b"TOO many tools")
    assert not grammar.awake


def test_a_trigger_token_is_the_grammars_first(lazy: Any) -> None:
    grammar = lazy("ab", tokens=[97])
    feed(grammar, b"xyz")
    grammar.accept(97)
    assert grammar.awake
    assert [grammar.allows(token) for token in (98, 97)] == [True, False]


@pytest.mark.parametrize(
    ("pattern", "text", "begins"),
    [
        ("TOOL", b"go TOOL", b"TOOL"),
        ("(?:go )(TO)OL", b"go TOOL", b"TOOL"),
        ("(x)?go TO(OL)", b"go TOOL", b"OL"),
        ("(x*)TOOL", b"go TOOL", b"TOOL"),
        (r"^go (T)[\s\S]*$", b"go T", b"T"),
    ],
)
def test_a_pattern_wakes_the_grammar_at_its_group(lazy: Any, pattern: str, text: Any, begins: Any) -> None:
    grammar = lazy(begins.decode() + "!", patterns=[pattern])
    feed(grammar, text)
    assert grammar.awake
    assert grammar.allows(ord("!"))


def test_anchored_patterns_match_the_whole_text(lazy: Any) -> None:
    grammar = lazy("b", patterns=["^ab$"])
    feed(grammar, b"xab")
    assert not grammar.awake


def test_a_trigger_whose_text_the_grammar_refuses_is_no_crash(lazy: Any) -> None:
    grammar = lazy("TOOL(", patterns=["TOOM"])
    feed(grammar, b"TOO")
    assert not grammar.allows(ord("M"))
    with pytest.raises(GrammarError, match="completes a trigger"):
        grammar.accept(ord("M"))
    assert not grammar.awake
    feed(grammar, b"L")


def test_a_match_may_begin_inside_a_token(native: FakeLlama, vocab: Vocab, lazy: Any) -> None:
    pieces = {200: b"say<", 201: b"tool>"}
    native.replace("llama_token_to_piece", lambda _v, token, buffer, *_: put(buffer, pieces.get(token, bytes([token]))))
    grammar = lazy("<", patterns=["<tool>"])
    accepted: list[int] = []
    grammar._grammar.accept = accepted.append
    grammar._grammar.allows = lambda _token: True
    grammar._grammar.clone = lambda: open_copy
    open_copy = GrammarSampler(vocab, "x")
    open_copy.allows, open_copy.accept = (lambda _token: True), (lambda _token: None)
    grammar.accept(200)
    grammar.accept(201)
    assert accepted == [ord("<"), 201]
    open_copy.close()


def put(buffer: Any, piece: Any) -> Any:
    buffer[: len(piece)] = piece
    return len(piece)


def test_clones_and_resets_are_independent(lazy: Any) -> None:
    grammar = lazy("ab", patterns=["ab"])
    feed(grammar, b"xa")
    copy = grammar.clone()
    feed(copy, b"b")
    assert (copy.awake, grammar.awake) == (True, False)
    copy.reset()
    feed(copy, b"b")
    assert not copy.awake
    feed(grammar, b"b")
    assert grammar.awake
    copy.handle.close()


def test_spelling_around_a_leading_space(native: FakeLlama, vocab: Vocab) -> None:
    def spaced(_vocab: Any, text: Any, size: Any, buffer: Any, _capacity: Any, *_: Any) -> Any:
        """A vocabulary that puts a space before every text."""
        tokens = [32, *text[:size]]
        buffer[: len(tokens)] = tokens
        return len(tokens)

    assert spell(vocab, b"ab") == [97, 98]
    native.replace("llama_tokenize", spaced)
    assert spell(vocab, b"ab") == [97, 98]
    native.replace("llama_tokenize", lambda *_: 0)
    with pytest.raises(GrammarError, match="cannot spell"):
        spell(vocab, b"ab")
    assert BOS not in spell(vocab, b"")
