"""Rules that llama.cpp refuses, and those that it would not survive."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._features.errors import GrammarSyntaxError
from llama_cpp._features.grammar.gbnf import parse_gbnf
from llama_cpp._features.grammar.gbnf_rules import MAX_DEPTH, components


@pytest.mark.parametrize(
    "text",
    [
        "root ::= . root",
        "root ::= a | .\na ::= . a root",
        'root ::= ("a"?)*',  # it may repeat the empty text, which llama.cpp notices in time
        "root ::= blank root | .\nblank ::= maybe\nmaybe ::= .?",
        "root ::= blank*\nblank ::= .*",
        "root ::= . dead\ndead ::= . dead",
        f"root ::= {' '.join(['.?'] * 200)}",
    ],
)
def test_what_can_be_followed(text: str) -> None:
    assert parse_gbnf(text).tree.rules


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("root ::= root", "rule 'root' begins with itself"),
        ("root ::= root . | .", "rule 'root' begins with itself"),
        ("root ::= a\na ::= b .\nb ::= . | root", "root → a → b → root"),
        ("root ::= (root .)", "left recursion in rule 'root'"),
        ("root ::= (|.)*", "repeats what may be empty"),
        ("root ::= a* root\na ::= .", "left recursion"),
        # what may be empty only behind another rule, llama.cpp doesn't know of
        ("root ::= blank root . | .\nblank ::= maybe\nmaybe ::= .?", "left recursion"),
        ("root ::= blank root\nblank ::= none\nnone ::= |", "can never begin"),
        ("root ::= a0\n" + "".join(f"a{n} ::= a{n + 1}\n" for n in range(MAX_DEPTH + 1)) + f"a{MAX_DEPTH + 1} ::= .", "deep"),
        ("root ::= a0\n" + "".join(f"a{n} ::= a{n + 1} | a{n + 1}\n" for n in range(30)) + "a30 ::= .", "ways from rules"),
        ("root ::= (a | a | a){2000}\na ::= b{0,2000}\nb ::= c{0,2000}\nc ::= .", "repetitions|ways from rules"),
    ],
)
def test_what_cannot(text: str, words: str) -> None:
    with pytest.raises(GrammarSyntaxError, match=words):
        parse_gbnf(text)


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20))
def test_components(pairs: list[tuple[int, int]]) -> None:
    edges = [[end for begin, end in pairs if begin == node] for node in range(8)]
    reach = [[node == other for other in range(8)] for node in range(8)]
    for _ in range(8):
        reach = [[reach[a][b] or any(reach[step][b] for step in edges[a]) for b in range(8)] for a in range(8)]
    groups = components(edges)
    assert sorted(node for group in groups for node in group) == list(range(8))
    place = {node: number for number, group in enumerate(groups) for node in group}
    for a in range(8):
        for b in range(8):
            assert (place[a] == place[b]) == (reach[a][b] and reach[b][a])
            if reach[a][b]:
                assert place[b] <= place[a]
