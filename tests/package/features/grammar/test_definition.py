"""Grammars as values: immutable, comparable, checked when they are made."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from llama_cpp._engine.errors import GrammarError
from llama_cpp._features.errors import GrammarSyntaxError
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


@dataclass
class Person:
    name: str
    age: int = 0


@pytest.mark.parametrize("schema", [{"type": "integer"}, '{"type": "integer"}', Person])
def test_from_a_json_schema(schema: Any) -> None:
    made = LlamaGrammar.from_json_schema(schema, triggers=["x"])
    assert made.root == "root"
    assert made.triggers == ("x",)
    assert "integer" in made.grammar or "age" in made.grammar


@pytest.mark.parametrize("schema", ["{", "[]", {"type": "nothing"}, {"$ref": "#/none"}, 7, b"x"])
def test_what_is_no_schema_or_cannot_be_expressed(schema: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the converter's words
        LlamaGrammar.from_json_schema(schema)


def test_pickles_and_copies() -> None:
    made = LlamaGrammar(TEXT, root="other", triggers=["a", 3])
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301 - just written
    assert copy.deepcopy(made) == made


def test_a_mistake_has_its_place() -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        LlamaGrammar("root ::= .\nitem ::= (")
    assert (caught.value.line, caught.value.column) == (2, 10)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, GrammarError)


class Vocab:
    """Has one token for `<think>`, and two for anything else."""

    def tokenize(self, text: str, *, add_special: bool, parse_special: bool) -> list[int]:
        assert (add_special, parse_special) == (False, True)
        return [7] if text == "<think>" else [1, 2]


class Chain:
    def __init__(self) -> None:
        self.calls: list[Any] = []

    def add_grammar(self, *args: Any, **options: Any) -> None:
        self.calls.append((args[1:], options))

    add_grammar_lazy = add_grammar


def test_what_a_chain_is_given() -> None:
    chain: Any = Chain()
    vocab: Any = Vocab()
    LlamaGrammar(TEXT, root="other").constrain(chain, vocab)
    LlamaGrammar(TEXT, triggers=["a", 3]).constrain(chain, vocab, lazy=True)
    assert chain.calls == [
        ((TEXT,), {"root": "other", "witness": None}),
        ((TEXT,), {"root": "root", "patterns": ["a"], "tokens": [3], "witness": None}),
    ]
    LlamaGrammar("root ::= <think>").constrain(chain, vocab)
    assert chain.calls[-1][1]["witness"].takes(7, b"x")
    with pytest.raises(GrammarError, match=r"line 1, column 10 .*'<other>' is 2 tokens"):
        LlamaGrammar("root ::= <other>").constrain(chain, vocab)
