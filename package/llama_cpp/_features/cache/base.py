"""What every cache of prompt states is, and the one rule of what counts as a hit."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from llama_cpp._engine import logbridge
from llama_cpp._features.state.compatibility import CUTTABLE, fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from llama_cpp._features.state.snapshot import LlamaState

    Tokens = Sequence[int] | NDArray[np.integer[Any]]

DEFAULT_CAPACITY = 2 << 30
_MOST_LOST = 64  # entries that turn out to be damaged, one after the other, before a lookup is given up


class Hit(NamedTuple):
    """An entry that serves the first `length` of some tokens; `load` gets its state, or raises KeyError when it is lost."""

    length: int
    load: Callable[[], LlamaState]


class BaseLlamaCache(ABC):
    """A mapping from token ids to the state after them.

    A key that is not there finds the entry that serves it best. An entry serves as many tokens as its own begin with
    together with the key's; where the memory it came from cannot be cut (recurrent state, sliding windows), it serves all of
    its own or none. `in` says whether an entry serves at least one token, `[]` returns the state of the one that serves most,
    or raises KeyError.
    """

    def __init__(self, capacity_bytes: int = DEFAULT_CAPACITY) -> None:
        if capacity_bytes < 0:
            raise ValueError(f"capacity_bytes must be 0 or more, not {capacity_bytes}")
        self.capacity_bytes = capacity_bytes

    @property
    @abstractmethod
    def cache_size(self) -> int:
        """Bytes that the entries take: never more than the capacity."""

    @abstractmethod
    def __getitem__(self, key: Sequence[int]) -> LlamaState:
        """The state of the entry that serves the tokens best; it counts as used."""

    @abstractmethod
    def __contains__(self, key: Sequence[int]) -> bool:
        """Whether `[]` would find one."""

    @abstractmethod
    def __setitem__(self, key: Sequence[int], value: LlamaState) -> None:
        """Keep a state in place of a former one, and drop those that were not used for longest where there is no room.

        One that is larger than the capacity is not kept.
        """


class FindingCache(BaseLlamaCache):
    """A cache that tells entries of different models and contexts apart, and can be asked for those of one."""

    def __init__(self, capacity_bytes: int = DEFAULT_CAPACITY, verbose: bool = False) -> None:
        super().__init__(capacity_bytes)
        self.verbose = verbose

    @abstractmethod
    def find(self, tokens: Tokens, origin: str | None = None) -> Hit | None:
        """The entry that serves the tokens best, of that origin (`fingerprint`) or of any."""

    def whole_hit(self, tokens: Tokens, origin: str | None = None, *, longer_than: int = 0) -> tuple[int, LlamaState] | None:
        """The best entry that serves more than so many tokens and is not lost: how many it serves, and its state."""
        for _ in range(_MOST_LOST):
            hit = self.find(tokens, origin)
            if hit is None or hit.length <= longer_than:
                break
            with contextlib.suppress(KeyError):
                state = hit.load()
                self.say("hit: %d of %d tokens", hit.length, len(tokens))
                return hit.length, state
        self.say("miss: %d tokens", len(tokens))
        return None

    def __getitem__(self, key: Sequence[int]) -> LlamaState:
        found = self.whole_hit(key)
        if found is None:
            raise KeyError("no state in the cache serves these tokens")
        return found[1]

    def __contains__(self, key: Sequence[int]) -> bool:
        return self.find(key) is not None

    def say(self, message: str, *values: object) -> None:
        """Log, when this cache is verbose."""
        if self.verbose:
            logbridge.logger.info(f"%s: {message}", type(self).__name__, *values)


def token_array(tokens: Tokens) -> NDArray[np.intc]:
    """Tokens as an array of their own."""
    return np.array(tokens, np.intc)


def origin_of(state: LlamaState) -> str:
    """The fingerprint of what a state came from; empty when it does not tell."""
    return fingerprint(getattr(state, "compatibility", None))


def is_cuttable(state: LlamaState) -> bool:
    """Whether what is loaded from it can be cut anywhere. States that tell nothing came from attention."""
    return bool((getattr(state, "compatibility", None) or {}).get(CUTTABLE, True))
