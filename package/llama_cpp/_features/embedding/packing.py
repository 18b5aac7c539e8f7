"""Which inputs are evaluated together: as many as the context takes at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def packs(lengths: Sequence[int], *, tokens: int, sequences: int) -> Iterator[list[int]]:
    """The inputs' numbers in groups of at most `tokens` tokens and `sequences` inputs, in order; empty inputs in none.

    A longer input stands alone.
    """
    pack: list[int] = []
    room = tokens
    for index, length in enumerate(lengths):
        if not length:
            continue
        if pack and (length > room or len(pack) == sequences):
            yield pack
            pack, room = [], tokens
        pack.append(index)
        room -= length
    if pack:
        yield pack
