"""GBNF text read into a tree, and mistakes found at their place."""

from __future__ import annotations

import pytest

from llama_cpp._features.errors import GrammarSyntaxError
from llama_cpp._features.grammar.gbnf import MAX_ELEMENTS, MAX_NESTING, parse_gbnf
from llama_cpp._features.grammar.tree import (
    ANY_CHARACTER,
    NOTHING,
    Characters,
    Choice,
    Literal,
    Node,
    Reference,
    Repetition,
    Sequence,
    Token,
)

A, B = Literal("a"), Literal("b")


def tree(text: str) -> Node:
    return parse_gbnf(f"root ::= {text}").tree.rules["root"]


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ('"a"', A),
        ('""', NOTHING),
        ("", NOTHING),
        ('"a" "b"', Sequence((A, B))),
        ('"a" | "b" |', Choice((A, B, NOTHING))),
        ('("a")', Choice((A,))),
        ('("a" | \n "b")*', Repetition(Choice((A, B)))),
        ('"a"*', Repetition(A)),
        ('"a"+', Repetition(A, 1)),
        ('"a"?', Repetition(A, 0, 1)),
        ('"a"{2}', Repetition(A, 2, 2)),
        ('"a"{2,}', Repetition(A, 2)),
        ('"a"{ 02 , 5 }', Repetition(A, 2, 5)),
        ('"a"{2}{0,3}', Repetition(Repetition(A, 2, 2), 0, 3)),
        (".", ANY_CHARACTER),
        ("[]", NOTHING),
        ("[^]", NOTHING),
        ("[abc]", Characters(((97, 97), (98, 98), (99, 99)))),
        ("[^a-c-]", Characters(((97, 99), (45, 45)), negated=True)),
        ("[--9]", Characters(((45, 57),))),
        (r"[\--\]]", Characters(((45, 93),))),
        (r"[\x41-\u00e9\U0001F600]", Characters(((0x41, 0xE9), (0x1F600, 0x1F600)))),
        (r'"\t\r\n\\\"\[\]\-\x41\u00e9\U0001F600é"', Literal('\t\r\n\\"[]-Aé😀é')),
        (r'"a\U00110000"', Sequence((A, Characters(((0x110000, 0x110000),))))),
        ("<[7]>", Token(7)),
        ("!<[007]>", Token(7, negated=True)),
        ("<|im_end|> !<a b>", Sequence((Token("<|im_end|>"), Token("<a b>", negated=True)))),
    ],
)
def test_trees(text: str, node: Node) -> None:
    assert tree(text) == node


def test_rules_references_and_comments() -> None:
    parsed = parse_gbnf('# head\nroot ::= a-1 # "no"\r\n\r\n a-1::=\n # here\n "a"\n')
    assert parsed.tree.rules == {"root": Reference("a-1"), "a-1": A}
    assert (parsed.names_tokens, parsed.named_tokens) == (False, ())


def test_the_last_definition_counts() -> None:
    assert parse_gbnf('root ::= "a"\nroot ::= "b"').tree.rules == {"root": B}


def test_another_root() -> None:
    assert parse_gbnf('a ::= "a"', "a").tree.root == "a"


def test_named_tokens_have_their_places() -> None:
    parsed = parse_gbnf("root ::= <a> !<b> <[3]>")
    assert (parsed.names_tokens, parsed.named_tokens) == (True, (("<a>", 9), ("<b>", 13)))
    assert parse_gbnf("root ::= <[3]>").names_tokens


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("root ::= (\n [a-z] |\n <x", 3, 2, "expected a token"),
        ('root ::= "a\\', 1, 12, "expected an escape"),
        ("root ::= [a\\q]", 1, 12, "expected an escape"),
        ('root ::= "a\n', 1, 10, 'expected "'),
        ("root ::= [a\n", 1, 10, "expected ]"),
        ('root ::= "a" }', 1, 14, "found '}'"),
        ("root ::= ( .\n", 1, 10, r"not closed: expected \)"),
        ("root ::= .\r\r\n& ::= .", 3, 1, "expected the name of a rule"),
        ("root ::= Itm\nitm ::= .", 1, 10, "is 'itm' meant"),
        ('Root ::= "a"', 1, 1, "is 'Root' meant"),
        ("root ::= .{3,2}", 1, 11, "at least 3, found 2"),
        ("root ::= .{18446744073709551616}", 1, 11, "too large"),
        ("root ::= .{40}{51}", 1, 15, "make 2040 rules"),
        ("root ::= .\n  item ::= root item | item", 2, 3, "'item' begins with itself"),
    ],
)
def test_mistakes(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(GrammarSyntaxError, match=words) as caught:
        parse_gbnf(text)
    assert (caught.value.line, caught.value.column) == (line, column), str(caught.value)


def test_what_would_be_too_large() -> None:
    with pytest.raises(GrammarSyntaxError, match=f"nested more than {MAX_NESTING} deep"):
        tree("(" * (MAX_NESTING + 1))
    deep = tree("(" * MAX_NESTING + '"a"' + ")" * MAX_NESTING)
    assert isinstance(deep, Choice)
    with pytest.raises(GrammarSyntaxError, match=f"more than {MAX_ELEMENTS} elements"):
        tree(f'"{"a" * 4001}"{{2000}}')


def test_a_bound_that_llama_cpp_takes_for_none_is_none_and_warned_about() -> None:
    with pytest.warns(UserWarning, match="line 1, column 11 .* 2001 repetitions for none"):
        assert tree(".{1,2001}") == Repetition(ANY_CHARACTER, 1, None)
