"""`LlamaBatch`: tokens or embeddings to be evaluated together, filled by the methods of either lineage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from llama_cpp._engine.batch import Batch
from llama_cpp._engine.errors import BatchSizeError, ClosedError, InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import ArrayLike

    Sequences: TypeAlias = int | Sequence[int]
    """The sequences that an entry is in."""

_M_ROPE_SECTIONS = 4


class LlamaBatch:
    """Room for `n_tokens` entries, each in up to `n_seq_max` sequences.

    With `embd` > 0 the entries are embeddings of that width; `mixed` ones have a token too. `batch` is the native struct,
    whose arrays may be written to directly.
    """

    def __init__(self, n_tokens: int, embd: int, n_seq_max: int, mixed: bool = False, verbose: bool = True) -> None:
        self.embd = embd
        self.n_seq_max = n_seq_max
        self.mixed = mixed
        self.verbose = verbose
        self._n_tokens = n_tokens
        self._engine: Batch | None = self._make(1)

    def _make(self, n_positions: int) -> Batch:
        return Batch(self._n_tokens, n_seq_max=self.n_seq_max, n_embd=self.embd, n_positions=n_positions, mixed=self.mixed)

    @property
    def engine(self) -> Batch:
        """The batch behind it."""
        if self._engine is None:
            raise ClosedError("this LlamaBatch is closed; create a new one")
        return self._engine

    @property
    def batch(self) -> Any:
        """The native `llama_batch`."""
        return self.engine.struct

    def n_tokens(self) -> int:
        """How many entries there are."""
        return self.engine.size

    def capacity(self) -> int:
        """How many entries fit."""
        return self.engine.capacity

    def space_left(self) -> int:
        """How many more entries fit."""
        return self.engine.capacity - self.engine.size

    def reset(self) -> None:
        """Forget the entries."""
        self.engine.clear()

    def enable_mrope_positions(self) -> None:
        """Give embeddings the four positions of M-RoPE. It forgets the entries."""
        self._engine = self._make(_M_ROPE_SECTIONS)

    def close(self) -> None:
        """Give the memory back."""
        self._engine = None

    # ---- filling ----------------------------------------------------------------------------------------------

    def set_batch(self, batch: Sequence[int], n_past: int, logits_all: bool) -> None:
        """Replace the entries by tokens of sequence 0, at positions from `n_past`; the last one leaves logits, or all do."""
        tokens = np.asarray(batch, np.int32)
        self._require_room(len(tokens), replacing=True)
        self.engine.fill(tokens, pos=n_past, outputs="all" if logits_all else "last")

    def add_token(self, token: int, pos: int, seq_ids: Sequences, logits: bool) -> int:
        """Append a token; returns its index."""
        self._require_room(1)
        return self.engine.add(token, pos=pos, seq_ids=_sequences(seq_ids), output=logits)

    def add_sequence(
        self,
        batch: Sequence[int] | None = None,
        seq_id: Any = None,
        logits_all: Any = None,
        logits_array: Sequence[bool] | None = None,
        *,
        token_array: Sequence[int] | None = None,
        pos_array: Sequence[int] | None = None,
        seq_ids: Sequence[Any] | None = None,
    ) -> None:
        """Append tokens of one sequence, or `(token_array, pos_array, seq_ids, logits_array)`.

        The first form, `(batch, seq_id, logits_all)`, counts positions from 0; the last token leaves logits, or all do. In the
        second `seq_ids` has one list for each token, or numbers that hold for all.
        """
        tokens = token_array if token_array is not None else batch
        if tokens is None:
            raise TypeError("add_sequence needs tokens")
        if logits_array is None:
            if pos_array is not None or seq_ids is not None or not isinstance(seq_id, int | np.integer):
                raise TypeError("add_sequence takes (batch, seq_id, logits_all) or (token_array, pos_array, seq_ids, logits_array)")
            self._require_room(len(tokens))
            self.engine.append(np.asarray(tokens, np.int32), pos=0, seq_id=int(seq_id), outputs="all" if logits_all else "last")
            return
        positions = pos_array if pos_array is not None else seq_id
        members = _per_entry(seq_ids if seq_ids is not None else logits_all, len(tokens))
        self._require_room(len(tokens))
        for token, pos, member, output in zip(tokens, positions, members, logits_array, strict=True):
            self.engine.add(int(token), pos=int(pos), seq_ids=member, output=bool(output))

    def add_embedding(self, embedding: ArrayLike, pos: int, seq_ids: Sequences, logits: bool) -> int:
        """Append an embedding, a row of `embd` values; returns its index."""
        return self._append(embedding, pos, seq_ids, logits, token=None)

    def add_token_embedding(self, token: int, embedding: ArrayLike, pos: int, seq_ids: Sequences, logits: bool) -> int:
        """Append a token with its embedding to a mixed batch; returns its index."""
        return self._append(embedding, pos, seq_ids, logits, token=token)

    def add_embeddings(self, embeddings: ArrayLike, pos_array: Sequence[int], seq_ids: Sequence[Any], logits_array: Sequence[bool]) -> None:
        """Append embeddings of shape (n, embd); `seq_ids` as for `add_sequence`."""
        rows = np.asarray(embeddings, np.float32)
        self._require_room(len(rows))
        for row, pos, member, output in zip(rows, pos_array, _per_entry(seq_ids, len(rows)), logits_array, strict=True):
            self._append(row, pos, member, output, token=None)

    def add_embeddings_mrope(
        self, embeddings: ArrayLike, positions: ArrayLike, seq_ids: Sequence[Any], logits_array: Sequence[bool]
    ) -> None:
        """Fill an empty batch with embeddings of shape (n, embd) at `positions` of shape (4, n): time, row, column, extra."""
        rows, sections = np.asarray(embeddings, np.float32), np.asarray(positions, np.int32)
        if self.engine.n_positions != _M_ROPE_SECTIONS or self.engine.size:
            raise InvalidArgumentError("call enable_mrope_positions first; a batch takes these embeddings all at once")
        if sections.shape != (_M_ROPE_SECTIONS, len(rows)):
            raise InvalidArgumentError(f"positions must have the shape (4, {len(rows)}), not {sections.shape}")
        self.add_embeddings(rows, sections[0].tolist(), seq_ids, logits_array)
        self.engine.positions[: sections.size] = sections.reshape(-1)

    def _append(self, embedding: ArrayLike, pos: int, seq_ids: Sequences, logits: bool, *, token: int | None) -> int:
        engine, row = self.engine, np.asarray(embedding, np.float32)
        if engine.embeddings is None or engine.has_tokens != (token is not None):
            raise InvalidArgumentError("this batch holds " + ("tokens" if engine.embeddings is None else "another kind of entries"))
        if row.shape != engine.embeddings.shape[1:]:
            raise InvalidArgumentError(f"an embedding of this batch has {self.embd} values, not the shape {row.shape}")
        self._require_room(1)
        slot = engine.add(0 if token is None else token, pos=pos, seq_ids=_sequences(seq_ids), output=logits)
        engine.embeddings[slot] = row
        return slot

    def _require_room(self, count: int, *, replacing: bool = False) -> None:
        room = self.engine.capacity if replacing else self.space_left()
        if count > room:
            raise BatchSizeError(f"{count} entries do not fit: the batch has room for {room} more")


def _sequences(seq_ids: Sequences) -> tuple[int, ...]:
    return (int(seq_ids),) if isinstance(seq_ids, int | np.integer) else tuple(int(each) for each in seq_ids)


def _per_entry(seq_ids: Sequence[Any], count: int) -> list[tuple[int, ...]]:
    if isinstance(seq_ids, int | np.integer) or all(isinstance(each, int | np.integer) for each in seq_ids):
        return [_sequences(seq_ids)] * count
    return [_sequences(each) for each in seq_ids]
