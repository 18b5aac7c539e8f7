"""The index of a disk cache: an SQLite file that says which state file belongs to which tokens.

Every operation opens it anew, so that threads, forked processes and other programs need no care. Owns no state files.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

_BUSY_SECONDS = 30.0
_TOKEN = np.dtype(">u4")  # so that the order of bytes is that of tokens
_COLUMNS = "id, origin, key, cuttable, bytes, file"
# The key comes last: it is long, and reading what stood behind it would mean reading it.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY, origin TEXT NOT NULL, cuttable INTEGER NOT NULL, bytes INTEGER NOT NULL, used INTEGER NOT NULL,
    file TEXT NOT NULL, key BLOB NOT NULL, UNIQUE (origin, key)
);
CREATE INDEX IF NOT EXISTS by_file ON entries (file, bytes);
CREATE INDEX IF NOT EXISTS by_use ON entries (used);
"""


class Row(NamedTuple):
    """An entry: `key` is tokens as bytes, `bytes` the size of its file."""

    id: int
    origin: str
    key: bytes
    cuttable: bool
    bytes: int
    file: str


def key_of(tokens: NDArray[np.intc]) -> bytes:
    """Tokens as the index keeps them."""
    return tokens.astype(_TOKEN).tobytes()


class DiskIndex:
    """Questions and changes within a transaction: `reading` or `writing` gives one."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def reading(self) -> Iterator[Entries]:
        """For questions; writers may go on beside them."""
        with self._open() as connection:
            yield Entries(connection)

    @contextmanager
    def writing(self) -> Iterator[Entries]:
        """For changes: one process at a time. Nothing is changed when the block raises, or its process is killed."""
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield Entries(connection)
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)
        try:
            # What a power cut tears is noticed: checksums are in the files, and a malformed index is emptied.
            connection.execute("PRAGMA synchronous = OFF")
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'by_use'").fetchone():
                connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
            yield connection
        finally:
            connection.close()


class Entries:
    """The entries within one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def total(self) -> int:
        """Bytes of all files."""
        return int(self._connection.execute("SELECT coalesce(sum(bytes), 0) FROM entries").fetchone()[0])

    def count(self) -> int:
        """How many there are."""
        return int(self._connection.execute("SELECT count(*) FROM entries").fetchone()[0])

    def files(self) -> dict[str, int]:
        """The names of the files, with the ids of their entries."""
        return dict(self._connection.execute("SELECT file, id FROM entries"))

    def oldest(self) -> Row | None:
        """The one that was not used for longest."""
        return self._one("ORDER BY used LIMIT 1")

    def exact(self, origin: str, key: bytes) -> Row | None:
        """The entry of exactly these tokens."""
        return self._one("WHERE origin = ? AND key = ?", origin, key)

    def best(self, key: bytes, origin: str | None) -> tuple[Row, int] | None:
        """The entry that serves most of the tokens, and how many: the rule of `BaseLlamaCache`."""
        origins = [origin] if origin is not None else [row[0] for row in self._connection.execute("SELECT DISTINCT origin FROM entries")]
        found = [each for name in origins if (each := self._best_of(name, key)) is not None]
        return max(found, key=lambda each: each[1], default=None)

    def _best_of(self, origin: str, key: bytes) -> tuple[Row, int] | None:
        """Sorted by their tokens, the neighbours of a key have most in common with it."""
        before = self._one("WHERE origin = ? AND key <= ? ORDER BY key DESC LIMIT 1", origin, key)
        after = self._one("WHERE origin = ? AND key > ? ORDER BY key LIMIT 1", origin, key)
        common = max((_common(row.key, key) for row in (before, after) if row), default=0)
        whole = self._longest_beginning(origin, key, before)
        if whole is not None and (len(whole.key) // _TOKEN.itemsize == common or not whole.cuttable):
            return whole, len(whole.key) // _TOKEN.itemsize
        for row in (before, after):
            if row is not None and row.cuttable and common and _common(row.key, key) == common:
                return row, common
        return None

    def _longest_beginning(self, origin: str, key: bytes, before: Row | None) -> Row | None:
        """The longest entry with which the key begins: it is the key's predecessor, or that of what both have in common."""
        while before is not None:
            common = _common(before.key, key) * _TOKEN.itemsize
            if common == len(before.key) or not common:
                return before if common else None
            key = key[:common]
            before = self._one("WHERE origin = ? AND key <= ? ORDER BY key DESC LIMIT 1", origin, key)
        return None

    def insert(self, origin: str, key: bytes, file: str, *, cuttable: bool, size: int) -> None:
        """Add an entry, as used last."""
        values = (origin, key, cuttable, size, file)
        self._connection.execute(
            "INSERT INTO entries (origin, key, cuttable, bytes, file, used) "
            "VALUES (?, ?, ?, ?, ?, (SELECT coalesce(max(used), 0) + 1 FROM entries))",
            values,
        )

    def touch(self, row: Row) -> None:
        """Count an entry as used last."""
        self._connection.execute("UPDATE entries SET used = (SELECT max(used) + 1 FROM entries) WHERE id = ?", (row.id,))

    def delete(self, entry: int) -> None:
        """Remove an entry."""
        self._connection.execute("DELETE FROM entries WHERE id = ?", (entry,))

    def _one(self, where: str, *values: object) -> Row | None:
        found = self._connection.execute(f"SELECT {_COLUMNS} FROM entries {where}", values).fetchone()  # noqa: S608 - ours
        return None if found is None else Row(*found)


def _common(one: bytes, other: bytes) -> int:
    """How many tokens two keys begin with together."""
    most = min(len(one), len(other))
    if one[:most] == other[:most]:
        return most // _TOKEN.itemsize
    different = np.frombuffer(one, _TOKEN, most // _TOKEN.itemsize) != np.frombuffer(other, _TOKEN, most // _TOKEN.itemsize)
    return int(different.argmax())
