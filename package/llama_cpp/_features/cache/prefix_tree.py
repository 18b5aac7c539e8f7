"""Finding which of many token sequences has most in common with a given one, in the time it takes to read that.

A radix tree: nodes stand where sequences end or part. Owns no states and no sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Tokens = NDArray[np.intc]

T = TypeVar("T")


class TrieNode(Generic[T]):
    """A place in the tree: `edge` leads here from `parent`, `entry` is what was put here, if anything.

    `cuttable` counts the entries here and below that serve a sequence which parts from theirs.
    """

    __slots__ = ("children", "cuttable", "edge", "entry", "parent", "serves_parted")

    def __init__(self, edge: Tokens, parent: TrieNode[T] | None = None) -> None:
        self.edge = edge
        self.parent = parent
        self.children: dict[int, TrieNode[T]] = {}
        self.entry: T | None = None
        self.serves_parted = False
        self.cuttable = 0


@dataclass(frozen=True)
class Found(Generic[T]):
    """An entry, and how many of the tokens it serves."""

    entry: T
    length: int


class PrefixTree(Generic[T]):
    """Entries by token sequences, none of which is empty."""

    def __init__(self) -> None:
        self.root: TrieNode[T] = TrieNode(np.zeros(0, np.intc))

    def insert(self, tokens: Tokens, entry: T, *, cuttable: bool) -> None:
        """Put an entry where there is none."""
        node, depth = self.root, 0
        while depth < len(tokens):
            child = node.children.get(int(tokens[depth]))
            if child is None:
                child = TrieNode(tokens[depth:].copy(), node)
                node.children[int(tokens[depth])] = child
                depth = len(tokens)
            else:
                shared = common_length(child.edge, tokens[depth:])
                depth += shared
                if shared < len(child.edge):
                    child = _split(child, shared)
            node = child
        node.entry, node.serves_parted = entry, cuttable
        if cuttable:
            _count(node, 1)

    def remove(self, tokens: Tokens) -> None:
        """Take the entry away that was put there with exactly these tokens."""
        node, depth = self.root, 0
        while depth < len(tokens):
            node = node.children[int(tokens[depth])]
            depth += len(node.edge)
        if node.serves_parted:
            _count(node, -1)
        node.entry, node.serves_parted = None, False
        while node.parent is not None and node.entry is None and not node.children:
            parent = node.parent
            del parent.children[int(node.edge[0])]
            node = parent
        if node.parent is not None and node.entry is None and len(node.children) == 1:
            _join(node)

    def best(self, tokens: Tokens) -> Found[T] | None:
        """The entry that serves most of `tokens`: all of its own sequence, or what a cuttable one has in common with them.

        Of two that serve the same, the one that need not be cut.
        """
        node, depth = self.root, 0
        whole: Found[T] | None = None
        parted, parted_depth = self.root, 0
        while depth < len(tokens):
            child = node.children.get(int(tokens[depth]))
            if child is None:
                break
            shared = common_length(child.edge, tokens[depth:])
            depth += shared
            if child.cuttable:
                parted, parted_depth = child, depth
            if shared < len(child.edge):
                break
            node = child
            if node.entry is not None:
                whole = Found(node.entry, depth)
        if whole is not None and whole.length >= parted_depth:
            return whole
        return Found(_first_cuttable(parted), parted_depth) if parted_depth else None


def common_length(one: Tokens, other: Tokens) -> int:
    """How many tokens two sequences begin with together."""
    most = min(len(one), len(other))
    different = one[:most] != other[:most]
    first = int(different.argmax()) if most else 0
    return first if most and different[first] else most


def _first_cuttable(node: TrieNode[T]) -> T:
    while node.entry is None or not node.serves_parted:
        node = next(child for child in node.children.values() if child.cuttable)
    return node.entry


def _count(node: TrieNode[T] | None, change: int) -> None:
    while node is not None:
        node.cuttable += change
        node = node.parent


def _split(node: TrieNode[T], length: int) -> TrieNode[T]:
    """Put a new node on the edge to `node`, after so many tokens of it; returns it."""
    middle: TrieNode[T] = TrieNode(node.edge[:length].copy(), node.parent)
    middle.cuttable = node.cuttable
    if node.parent is not None:
        node.parent.children[int(node.edge[0])] = middle
    node.edge = node.edge[length:].copy()
    node.parent = middle
    middle.children[int(node.edge[0])] = node
    return middle


def _join(node: TrieNode[T]) -> None:
    """Take a node out that has one child, and neither an entry nor a choice."""
    (child,) = node.children.values()
    child.edge = np.concatenate((node.edge, child.edge))
    child.parent = node.parent
    if node.parent is not None:
        node.parent.children[int(node.edge[0])] = child
