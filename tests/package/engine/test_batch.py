from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from llama_cpp._engine.batch import Batch
from llama_cpp._engine.errors import BatchSizeError, InvalidArgumentError, SequenceIdError


def contents(batch: Any) -> Any:
    """What C would read."""
    struct = batch.struct
    count = struct.n_tokens
    sequences = [struct.seq_id[i][: struct.n_seq_id[i]] for i in range(count)]
    return struct.token[:count], struct.pos[:count], sequences, list(struct.logits[:count])


def test_fill_writes_what_c_reads() -> None:
    batch = Batch(8, n_seq_max=2)
    batch.fill(np.array([5, 6, 7], np.int32), pos=10, seq_id=1)
    assert contents(batch) == ([5, 6, 7], [10, 11, 12], [[1], [1], [1]], [0, 0, 1])
    batch.fill(np.array([9], np.int32), pos=0, outputs="none")
    assert contents(batch) == ([9], [0], [[0]], [0])
    batch.fill(np.array([1, 2], np.int32), pos=3, outputs="all")
    assert contents(batch) == ([1, 2], [3, 4], [[0], [0]], [1, 1])


def test_filling_allocates_nothing_native() -> None:
    batch = Batch(4)
    before = (batch.struct.token[0:1], batch.tokens.ctypes.data)
    batch.fill(np.array([3], np.int32), pos=0)
    assert batch.tokens.ctypes.data == before[1]
    assert batch.struct.token[0] == 3


def test_single_tokens_can_be_in_several_sequences() -> None:
    batch = Batch(2, n_seq_max=3)
    assert batch.add(5, pos=0, seq_ids=(0, 2), output=True) == 0
    assert batch.add(6, pos=1, seq_ids=(1,)) == 1
    assert contents(batch) == ([5, 6], [0, 1], [[0, 2], [1]], [1, 0])
    with pytest.raises(BatchSizeError, match="do not fit"):
        batch.add(7, pos=2)
    batch.clear()
    assert batch.size == 0


@pytest.mark.parametrize("seq_ids", [(), (0, 1)])
def test_a_token_needs_as_many_sequences_as_there_is_room_for(seq_ids: Any) -> None:
    batch = Batch(2)
    with pytest.raises(SequenceIdError):
        batch.add(1, pos=0, seq_ids=seq_ids)
    assert batch.size == 0


def test_embeddings_take_the_place_of_tokens() -> None:
    batch = Batch(2, n_embd=3, n_positions=4)
    assert not batch.struct.token
    batch.embeddings[1] = [1, 2, 3]
    assert batch.struct.embd[3:6] == [1, 2, 3]
    assert batch.positions.shape == (8,)
    with pytest.raises(InvalidArgumentError):
        batch.fill(np.array([1], np.int32), pos=0)


@pytest.mark.parametrize(("capacity", "n_seq_max"), [(0, 1), (-1, 1), (1, 0), (1, 257)])
def test_impossible_sizes(capacity: Any, n_seq_max: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        Batch(capacity, n_seq_max=n_seq_max)
