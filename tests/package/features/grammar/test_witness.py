"""Which tokens native code survives, in grammars that name tokens."""

from __future__ import annotations

import pytest

from llama_cpp._features.grammar.gbnf import parse_gbnf
from llama_cpp._features.grammar.witness import TreeWitness

HELLO, THINK = 300, 301


def witness(rules: str) -> TreeWitness:
    return TreeWitness(parse_gbnf(f"root ::= {rules}").tree, {"<think>": THINK})


def text(made: TreeWitness, written: str) -> bool:
    """Whether it takes the text byte by byte."""
    for byte in written.encode():
        if not made.takes(byte, bytes([byte])):
            return False
        made.accept(byte, bytes([byte]))
    return True


@pytest.mark.parametrize(
    ("rules", "taken"),
    [
        ("<think>", True),
        ('"x" | <[301]>', True),
        ("!<[300]>", True),
        ("!<think>", False),
        ('"hel" <think>', False),  # native code would let it pass, and fail
        ('"h" !<[7]>', False),
        ('"hello"', True),
        ('"hello" <[7]>', True),
        ("[a-z]{2,9}", True),
        ('("h" | "e" | "llo"){3}', True),
        ('"hell"', False),
        ("[a-z]{4}", False),
        ("[^o]*", False),
    ],
)
def test_one_token(rules: str, taken: bool) -> None:
    assert witness(rules).takes(THINK, b"hello") is taken


def test_texts_around_tokens() -> None:
    made = witness('"a"? <think> (!<think>)* <think> "b"+')
    assert text(made, "a")
    assert not made.takes(ord("b"), b"b")
    made.accept(THINK, b"<think>")
    made.accept(HELLO, b"hello")
    copy = made.clone()
    copy.accept(THINK, b"<think>")
    assert text(copy, "bb")
    assert not copy.takes(ord("c"), b"c")
    assert made.takes(HELLO, b"hello")
    made.reset()
    assert text(made, "a")


def test_characters_over_several_tokens() -> None:
    made = witness('[é語]+ "." <think>')
    assert text(made, "é語é.")
    assert made.takes(THINK, b"<think>")
    assert not witness("[é語]").takes(1, b"\xff\xff")


def test_repetitions_are_counted() -> None:
    assert text(witness('"a"{2,3} <think>'), "aaa")
    assert not text(witness('"a"{2,3} <think>'), "aaaa")
    made = witness('"a"{2,3} <think>')
    assert text(made, "a")
    assert not made.takes(THINK, b"x")
    assert text(made, "a")
    assert made.takes(THINK, b"x")


def test_what_repeats_the_empty_text() -> None:
    made = witness('("a"?)* blank <think>\nblank ::= ("b"?)*')
    assert text(made, "aab")
    assert made.takes(THINK, b"x")
