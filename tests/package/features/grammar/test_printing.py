from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._features.grammar.printing import print_grammar
from llama_cpp._features.grammar.simplification import simplify
from llama_cpp._features.grammar.tree import (
    ANY_CHARACTER,
    NOTHING,
    Characters,
    Choice,
    Grammar,
    Literal,
    Node,
    Reference,
    Repetition,
    Sequence,
)

from .recognizer import Sampler, matches

LEAVES = st.one_of(
    st.text('ab"\\\n-]^é😀', max_size=3).map(Literal),
    st.sampled_from([Characters(((97, 98),)), Characters(((34, 34), (93, 94))), Characters(((97, 97),), negated=True), ANY_CHARACTER]),
    st.just(Reference("other")),
)
NODES: st.SearchStrategy[Node] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: Sequence(tuple(items))),
        st.lists(inner, min_size=1, max_size=4).map(lambda items: Choice(tuple(items))),
        # A repetition of what may be empty is left-recursive for llama.cpp.
        st.tuples(inner, st.integers(0, 2), st.one_of(st.none(), st.integers(2, 3))).map(
            lambda made: Repetition(Sequence((Literal("r"), made[0])), made[1], made[2])
        ),
    ),
    max_leaves=8,
)
OTHER = Choice((Literal("x"), Characters(((0x4E00, 0x4E10),))))


@given(NODES, st.randoms(use_true_random=False), st.text('ab"x\nr', max_size=4))
def test_text_and_simplified_tree_mean_the_same(node: Node, rng: random.Random, text: str) -> None:
    tree = Grammar({"root": node, "other": OTHER})
    simple = Grammar({"root": simplify(node), "other": OTHER})
    printed = print_grammar(tree)
    shorter = print_grammar(simple)
    texts = [text, *(Sampler(tree, rng).text() for _ in range(2)), *(Sampler(simple, rng).text() for _ in range(2))]
    for each in texts:
        assert len({matches(tree, each), matches(simple, each), matches(printed, each), matches(shorter, each)}) == 1, (
            each,
            printed,
            shorter,
        )


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1000), (0, 1001), (0, 2000), (999, 2001), (1000, 1000), (2500, 2500), (1, 3456), (2500, None)]
)
def test_large_repetitions_are_exact(low: int, high: int | None) -> None:
    printed = print_grammar(Grammar({"root": Repetition(Literal("x"), low, high)}))
    assert max(int(number) for number in __import__("re").findall(r"[{,](\d+)}", printed)) <= 1000
    counts = {0, 1, low - 1, low, low + 1, 999, 1000, 1001, *((high - 1, high, high + 1) if high else (low + 1500,))}
    for count in counts:
        if count >= 0:
            assert matches(printed, "x" * count) == (low <= count and (high is None or count <= high)), count


def test_what_matches_nothing_cannot_be_printed() -> None:
    for node in (Choice(()), Characters(())):
        with pytest.raises(ValueError, match="matches nothing"):
            print_grammar(Grammar({"root": node}))


def test_alternatives_share_their_ends() -> None:
    words = Choice(tuple(Literal(f'"{word}"') for word in ("red", "rose", "blue", "black")))
    printed = print_grammar(Grammar({"root": simplify(words)}))
    assert printed.count('\\"') == 2
    assert simplify(Choice((Literal("a"), Literal("b"), Characters(((48, 57),)), Literal("a")))) == Characters(((48, 57), (97, 98)))
    assert simplify(Choice((Literal("ab"), NOTHING, Literal("ab")))) == Choice((Literal("ab"), NOTHING))
