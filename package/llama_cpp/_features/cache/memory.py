"""Caches in Python's memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .base import FindingCache, Hit, is_cuttable, origin_of, token_array
from .prefix_tree import Found, PrefixTree

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from llama_cpp._features.state.snapshot import LlamaState

    Tokens = Sequence[int] | NDArray[np.integer[Any]]
    Name = tuple[str, bytes]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Entry:
    name: Name
    tokens: NDArray[np.intc]
    state: LlamaState
    size: int


class LlamaTrieCache(FindingCache):
    """States in memory, found through a tree of their tokens; the least recently used go first.

    A state counts with its `nbytes`. Safe to share between threads and between objects of different models.
    """

    def __init__(self, capacity_bytes: int = 2 << 30, verbose: bool = False) -> None:
        super().__init__(capacity_bytes, verbose)
        self._entries: OrderedDict[Name, _Entry] = OrderedDict()  # the next to go first
        self._trees: dict[str, PrefixTree[_Entry]] = {}
        self._size = 0
        self._lock = threading.RLock()

    @property
    def cache_size(self) -> int:
        """Bytes of the states."""
        return self._size

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, tokens: Tokens, origin: str | None = None) -> Hit | None:
        """The entry that serves the tokens best, of that origin or of any."""
        wanted = token_array(tokens)
        with self._lock:
            trees = self._trees.values() if origin is None else filter(None, [self._trees.get(origin)])
            found = [each for tree in trees if (each := tree.best(wanted)) is not None]
        best: Found[_Entry] | None = max(found, key=lambda each: each.length, default=None)
        if best is None:
            return None
        entry = best.entry
        return Hit(best.length, lambda: self._used(entry))

    def _used(self, entry: _Entry) -> LlamaState:
        with self._lock:
            if entry.name in self._entries:
                self._entries.move_to_end(entry.name)
        return entry.state

    def __setitem__(self, key: Sequence[int], value: LlamaState) -> None:
        tokens, size = token_array(key), int(value.nbytes)
        entry = _Entry(name=(origin_of(value), tokens.tobytes()), tokens=tokens, state=value, size=size)
        with self._lock:
            self._drop(entry.name)
            if not len(tokens) or size > self.capacity_bytes:
                self.say("not kept: %d tokens, %d bytes", len(tokens), size)
                return
            while self._size + size > self.capacity_bytes:
                self._drop(next(iter(self._entries)))
            tree = self._trees.setdefault(entry.name[0], PrefixTree())
            tree.insert(tokens, entry, cuttable=is_cuttable(value))
            self._entries[entry.name] = entry
            self._size += size
        self.say("kept: %d tokens, %d bytes", len(tokens), size)

    def _drop(self, name: Name) -> None:
        entry = self._entries.pop(name, None)
        if entry is not None:
            tree = self._trees[name[0]]
            tree.remove(entry.tokens)
            if not tree.root.children:
                del self._trees[name[0]]
            self._size -= entry.size


class LlamaRAMCache(LlamaTrieCache):
    """The same by its older name."""
