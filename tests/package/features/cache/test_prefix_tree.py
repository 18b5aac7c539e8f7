"""The tree against the plainest search there is."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._features.cache.prefix_tree import PrefixTree, TrieNode, common_length

SEQUENCES = st.lists(st.integers(0, 2), max_size=8).map(tuple)
STEPS = st.lists(st.tuples(SEQUENCES.filter(bool), st.sampled_from(["insert", "insert parted", "remove"])), max_size=25)


def array(tokens: tuple[int, ...]) -> np.ndarray[tuple[int], np.dtype[np.intc]]:
    return np.array(tokens, np.intc)


def shared(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def served(key: tuple[int, ...], cuttable: bool, tokens: tuple[int, ...]) -> int:
    common = shared(key, tokens)
    return common if cuttable or common == len(key) else 0


def check(node: TrieNode[tuple[int, ...]], root: TrieNode[tuple[int, ...]]) -> int:
    """Every node but the root is an entry or a choice, and the counts add up; returns the count."""
    if node is not root:
        assert node.entry is not None or len(node.children) > 1
        assert len(node.edge)
    for first, child in node.children.items():
        assert child.parent is node
        assert first == child.edge[0]
    total = int(node.serves_parted) + sum(check(child, root) for child in node.children.values())
    assert node.cuttable == total
    return total


@given(STEPS, st.lists(SEQUENCES, min_size=1, max_size=10))
def test_it_finds_what_a_search_through_all_finds(steps: list[tuple[tuple[int, ...], str]], questions: list[tuple[int, ...]]) -> None:
    tree: PrefixTree[tuple[int, ...]] = PrefixTree()
    held: dict[tuple[int, ...], bool] = {}
    for key, step in steps:
        if key in held:
            tree.remove(array(key))
            del held[key]
        if step != "remove":
            held[key] = step == "insert parted"
            tree.insert(array(key), key, cuttable=held[key])
        check(tree.root, tree.root)
    for tokens in questions:
        due = max((served(key, cuttable, tokens) for key, cuttable in held.items()), default=0)
        found = tree.best(array(tokens))
        assert (found.length if found else 0) == due
        if found:
            assert served(found.entry, held[found.entry], tokens) == due
            if tokens[:due] in held:
                assert found.entry == tokens[:due], "what needs no cut is preferred"


def test_a_tree_that_was_emptied_is_empty() -> None:
    tree: PrefixTree[str] = PrefixTree()
    for key in ((1, 2, 3), (1, 2), (1, 2, 4)):
        tree.insert(array(key), str(key), cuttable=True)
    for key in ((1, 2), (1, 2, 3), (1, 2, 4)):
        tree.remove(array(key))
    assert not tree.root.children
    assert tree.root.cuttable == 0


@given(SEQUENCES, SEQUENCES)
def test_common_length(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    assert common_length(array(one), array(other)) == shared(one, other)
