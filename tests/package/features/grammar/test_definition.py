"""Grammars as values: immutable, comparable, checked when they are made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llama_cpp._features.grammar.definition import LlamaGrammar

TEXT = 'root ::= other\nother ::= "a"'


def test_what_it_says_of_itself() -> None:
    triggers: list[str | int] = ["<tool>", 7]
    made = LlamaGrammar.from_string(TEXT, verbose=False, root="other", triggers=triggers)
    triggers.append(8)
    assert (made.grammar, made._grammar, made.root, made.triggers) == (TEXT, TEXT, "other", ("<tool>", 7))
    with pytest.raises(AttributeError):
        made.root = "x"  # type: ignore[misc]


def test_equality() -> None:
    assert LlamaGrammar(TEXT) == LlamaGrammar.from_string(TEXT)
    assert len({LlamaGrammar(TEXT), LlamaGrammar(TEXT), LlamaGrammar(TEXT, triggers=[1]), LlamaGrammar(TEXT, root="other")}) == 3
    assert LlamaGrammar(TEXT) != TEXT


def test_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "a.gbnf"
    file.write_text('root ::= "ä"', encoding="utf-8")
    assert LlamaGrammar.from_file(str(file)).grammar == 'root ::= "ä"'
    with pytest.raises(FileNotFoundError):
        LlamaGrammar.from_file(tmp_path / "none.gbnf")
    file.write_text(" ", encoding="utf-8")
    with pytest.raises(ValueError, match="empty"):
        LlamaGrammar.from_file(file)


@pytest.mark.parametrize(
    ("text", "options", "error"),
    [
        ("", {}, ValueError),
        ("a\0b", {}, ValueError),
        (b"root", {}, TypeError),
        (TEXT, {"root": ""}, ValueError),
        (TEXT, {"root": "a b"}, ValueError),
        (TEXT, {"root": "a_b"}, ValueError),
        (TEXT, {"triggers": ["("]}, ValueError),
        (TEXT, {"triggers": [""]}, ValueError),
        (TEXT, {"triggers": [-1]}, ValueError),
        (TEXT, {"triggers": [True]}, ValueError),
        (TEXT, {"triggers": [1.5]}, ValueError),
        (TEXT, {"triggers": "abc"}, TypeError),
    ],
)
def test_what_cannot_be_a_grammar(text: Any, options: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        LlamaGrammar.from_string(text, **options)
