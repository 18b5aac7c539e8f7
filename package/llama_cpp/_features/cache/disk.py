"""A cache of state files in a folder, shared by processes.

A process may be killed at any instant. A state file is whole before the index names it, and what the index does not name
is removed by whoever writes next: there is one writer at a time. What is damaged is a miss.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from llama_cpp._engine import logbridge
from llama_cpp._features.errors import StateFileError
from llama_cpp._features.state.file import file_bytes, read_state, write_state

from .base import DEFAULT_CAPACITY, FindingCache, Hit, is_cuttable, origin_of, token_array
from .disk_index import DiskIndex, Entries, Row, key_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from llama_cpp._features.state.snapshot import LlamaState

    Tokens = Sequence[int] | NDArray[np.integer[Any]]

INDEX = "llama-states.sqlite3"
SUFFIX = ".llamastate"


class LlamaDiskCache(FindingCache):
    """State files in `cache_dir`, the least recently used of which go first.

    The files together never take more than `capacity_bytes`; the index beside them is small and not counted. Several
    processes and threads may use the folder at once. Files of other programs in it are left alone.
    """

    def __init__(
        self, cache_dir: str | os.PathLike[str] = ".cache/llama_cache", capacity_bytes: int = DEFAULT_CAPACITY, verbose: bool = False
    ) -> None:
        super().__init__(capacity_bytes, verbose)
        self.cache_dir = os.fspath(cache_dir)
        self._folder = Path(cache_dir)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._index = DiskIndex(self._folder / INDEX)
        self._guarded(self._tidy)

    @property
    def cache_size(self) -> int:
        """Bytes of the state files."""
        return self._guarded(self._total) or 0

    def __len__(self) -> int:
        return self._guarded(self._count) or 0

    def __contains__(self, key: Sequence[int]) -> bool:
        """Whether `[]` would find one, which takes reading it: only then is it known to be whole."""
        return self.whole_hit(key) is not None

    def find(self, tokens: Tokens, origin: str | None = None) -> Hit | None:
        """The entry that serves the tokens best, of that origin or of any. Whether its file is whole is found out by `load`."""
        key = key_of(token_array(tokens))
        found = self._guarded(self._best, key, origin)
        if found is None:
            return None
        row, length = found
        return Hit(length, lambda: self._load(row))

    def __setitem__(self, key: Sequence[int], value: LlamaState) -> None:
        tokens = token_array(key)
        size = file_bytes(value) if len(tokens) else 0
        self._guarded(self._store, origin_of(value), key_of(tokens), value, size)

    def _guarded(self, operation: Any, *values: Any) -> Any:
        """An index that is no database is emptied; a folder that cannot be used now makes a miss, and is logged."""
        for attempt in (1, 2):
            try:
                return operation(*values)
            except (sqlite3.OperationalError, OSError) as error:
                if attempt == 1 and _is_damage(error):
                    self._empty()
                    continue
                logbridge.logger.warning("LlamaDiskCache: %s cannot be used now: %s", self._folder, error)
                return None
            except sqlite3.DatabaseError as error:
                logbridge.logger.warning("LlamaDiskCache: the index of %s is damaged and begun anew: %s", self._folder, error)
                self._empty()
        return None

    def _total(self) -> int:
        with self._index.reading() as entries:
            return entries.total()

    def _count(self) -> int:
        with self._index.reading() as entries:
            return entries.count()

    def _best(self, key: bytes, origin: str | None) -> tuple[Row, int] | None:
        with self._index.reading() as entries:
            return entries.best(key, origin)

    def _load(self, row: Row) -> LlamaState:
        try:
            state = read_state(self._folder / row.file)
        except (StateFileError, OSError) as error:
            self.say("dropped a file: %s", error)
        else:
            if origin_of(state) == row.origin:
                self._guarded(self._touch, row)
                return state
        self._guarded(self._forget, row)
        raise KeyError("the state in the cache is damaged or gone")

    def _touch(self, row: Row) -> None:
        with self._index.writing() as entries:
            entries.touch(row)

    def _forget(self, row: Row) -> None:
        with self._index.writing() as entries:
            now = entries.exact(row.origin, row.key)
            if now is not None and now.id == row.id:
                self._delete(entries, now)

    def _store(self, origin: str, key: bytes, state: LlamaState, size: int) -> None:
        with self._index.writing() as entries:
            self._sweep(entries)
            former = entries.exact(origin, key)
            if former is not None:
                self._delete(entries, former)
            if not key or size > self.capacity_bytes:
                self.say("not kept: %d bytes", size)
                return
            while entries.total() + size > self.capacity_bytes:
                oldest = entries.oldest()
                if oldest is None:
                    break
                self._delete(entries, oldest)
            name = hashlib.blake2b(origin.encode() + b"\0" + key, digest_size=16).hexdigest() + SUFFIX
            written = write_state(self._folder / name, state)
            entries.insert(origin, key, name, cuttable=is_cuttable(state), size=written)
        self.say("kept: %d bytes", written)

    def _tidy(self) -> None:
        with self._index.writing() as entries:
            self._sweep(entries)
            while entries.total() > self.capacity_bytes and (oldest := entries.oldest()) is not None:
                self._delete(entries, oldest)

    def _sweep(self, entries: Entries) -> None:
        """Remove what killed writers left: files without an entry, and entries without a file."""
        named = entries.files()
        there = {each.name for each in os.scandir(self._folder) if SUFFIX in each.name}
        for name in there - named.keys():
            _unlink(self._folder / name)
        for name in named.keys() - there:
            entries.delete(named[name])

    def _delete(self, entries: Entries, row: Row) -> None:
        """The file first: the folder is never larger than allowed, and an entry without its file is a miss."""
        _unlink(self._folder / row.file)
        entries.delete(row.id)

    def _empty(self) -> None:
        for each in list(os.scandir(self._folder)):
            if SUFFIX in each.name or each.name.startswith(INDEX):
                _unlink(Path(each.path))


def _is_damage(error: Exception) -> bool:
    """Whether an operational error says that the index is a database, and none of ours."""
    foreign = ("no such column", "no such table", "has no column")
    return isinstance(error, sqlite3.OperationalError) and any(words in str(error) for words in foreign)


def _unlink(path: Path) -> None:
    with contextlib.suppress(OSError):  # gone already; or, on Windows, being read: the next writer removes it
        path.unlink()
