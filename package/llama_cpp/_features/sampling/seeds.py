"""Where the seed of a request comes from when the caller gives none."""

from __future__ import annotations

import random

RANDOM_SEED = 0xFFFFFFFF  # LLAMA_DEFAULT_SEED: llama.cpp draws one, which could not be repeated


class SeedSource:
    """A new seed for each request: unpredictable, or a repeatable series when it is itself seeded.

    `current` is all that the rest of the series follows from: a source made with it goes on in the same way.
    """

    def __init__(self, seed: int | None = None) -> None:
        self.current = random.randrange(RANDOM_SEED) if seed is None else seed  # noqa: S311 - nothing here is a secret

    def resolve(self, seed: int | None) -> int:
        """The seed itself (0 is one like any other); the next of the series for None."""
        if seed is not None:
            return seed
        self.current = random.Random(self.current).randrange(RANDOM_SEED)  # noqa: S311 - as above
        return self.current


def seed_value(seed: object) -> int | None:
    """A seed argument as 32 unsigned bits; None for None, and for the values that stand for "random" (-1)."""
    if seed is None:
        return None
    if isinstance(seed, bool) or not hasattr(seed, "__index__"):
        raise ValueError(f"seed must be an integer or None, not {seed!r}")
    value = int(seed.__index__()) & 0xFFFFFFFF
    return None if value == RANDOM_SEED else value
