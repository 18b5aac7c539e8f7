"""Sets of characters as sorted ranges of code points: union, difference, complement, and alphabets made of several sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeAlias

Ranges: TypeAlias = tuple[tuple[int, int], ...]

LAST = 0x10FFFF
EVERY: Ranges = ((0, 0xD7FF), (0xE000, LAST))
"""Every Unicode scalar value: surrogates are no characters."""
EMPTY: Ranges = ()


def ranges(pairs: Iterable[tuple[int, int]]) -> Ranges:
    """These ranges, sorted and joined where they touch."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(pairs):
        if joined and low <= joined[-1][1] + 1:
            if high > joined[-1][1]:
                joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return tuple(joined)


def of(text: str) -> Ranges:
    """The characters of a text."""
    return ranges((ord(character), ord(character)) for character in text)


def union(*sets: Ranges) -> Ranges:
    """What is in any of the sets."""
    return ranges(pair for each in sets for pair in each)


def difference(left: Ranges, right: Ranges) -> Ranges:
    """What is in `left` only."""
    rest: list[tuple[int, int]] = []
    for low, high in left:
        at = low
        for begin, end in right:
            if end < at or begin > high:
                continue
            if begin > at:
                rest.append((at, begin - 1))
            at = end + 1
        if at <= high:
            rest.append((at, high))
    return tuple(rest)


def complement(of_set: Ranges) -> Ranges:
    """Every other character."""
    return difference(EVERY, of_set)


def intersection(left: Ranges, right: Ranges) -> Ranges:
    """What is in both."""
    return difference(left, difference(left, right))


def contains(of_set: Ranges, point: int) -> bool:
    """Whether the code point is in the set."""
    return any(low <= point <= high for low, high in of_set)


def size(of_set: Ranges) -> int:
    """How many characters the set has."""
    return sum(high - low + 1 for low, high in of_set)


def alphabet(sets: Sequence[Ranges], whole: Ranges = EVERY) -> list[Ranges]:
    """`whole` cut into the coarsest disjoint sets of which each of `sets` is a union."""
    cuts = {0}
    for each in (*sets, whole):
        for low, high in each:
            cuts.add(low)
            cuts.add(high + 1)
    groups: dict[tuple[bool, ...], list[tuple[int, int]]] = {}
    points = sorted(cuts)
    for low, after in pairwise(points):
        if contains(whole, low):
            groups.setdefault(tuple(contains(each, low) for each in sets), []).append((low, after - 1))
    return [ranges(pairs) for pairs in groups.values()]
