from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from llama_cpp._engine.errors import BatchSizeError, ClosedError, InvalidArgumentError, SequenceIdError
from llama_cpp._features.internals.batch import LlamaBatch


def entries(batch: LlamaBatch) -> list[tuple[int, int, list[int], int]]:
    """Token, position, sequences and output of each, as native code reads them."""
    struct = batch.batch
    return [(struct.token[i], struct.pos[i], struct.seq_id[i][: struct.n_seq_id[i]], int(struct.logits[i])) for i in range(struct.n_tokens)]


@pytest.fixture
def batch() -> LlamaBatch:
    return LlamaBatch(n_tokens=6, embd=0, n_seq_max=2)


def test_a_batch_of_the_older_lineage(batch: LlamaBatch) -> None:
    batch.set_batch([7, 8], n_past=3, logits_all=False)
    assert entries(batch) == [(7, 3, [0], 0), (8, 4, [0], 1)]
    batch.set_batch([9], 0, True)
    batch.add_sequence([5, 6], 1, False)
    assert entries(batch) == [(9, 0, [0], 1), (5, 0, [1], 0), (6, 1, [1], 1)]
    batch.reset()
    batch.add_sequence([5, 6], seq_id=1, logits_all=True)
    assert entries(batch) == [(5, 0, [1], 1), (6, 1, [1], 1)]


def test_a_batch_of_the_newer_lineage(batch: LlamaBatch) -> None:
    assert batch.add_token(7, 3, [0, 1], True) == 0
    assert batch.add_token(8, 4, 1, False) == 1
    batch.add_sequence(token_array=[1, 2], pos_array=[5, 6], seq_ids=[[0], [0, 1]], logits_array=[False, True])
    batch.add_sequence([3], [9], [1], [True])
    assert entries(batch) == [(7, 3, [0, 1], 1), (8, 4, [1], 0), (1, 5, [0], 0), (2, 6, [0, 1], 1), (3, 9, [1], 1)]
    assert (batch.n_tokens(), batch.capacity(), batch.space_left()) == (5, 6, 1)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"batch": [1]}, {"batch": [1], "seq_id": [0], "logits_all": True}, {"token_array": [1], "pos_array": [0], "seq_ids": [0]}],
)
def test_a_sequence_that_is_described_by_halves(batch: LlamaBatch, arguments: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="add_sequence"):
        batch.add_sequence(**arguments)


@pytest.mark.parametrize(
    "fill",
    [
        lambda batch: batch.set_batch(range(7), 0, False),
        lambda batch: batch.add_sequence(range(7), 0, False),
        lambda batch: batch.add_sequence(range(7), range(7), [0], [False] * 7),
        lambda batch: [batch.add_token(1, i, 0, False) for i in range(7)],
    ],
)
def test_more_than_fits(batch: LlamaBatch, fill: Any) -> None:
    with pytest.raises(BatchSizeError):
        fill(batch)
    assert batch.n_tokens() <= 6


def test_more_sequences_than_fit(batch: LlamaBatch) -> None:
    with pytest.raises(SequenceIdError):
        batch.add_token(1, 0, [0, 1, 2], False)


def test_embeddings() -> None:
    batch = LlamaBatch(4, embd=3, n_seq_max=1)
    batch.add_embedding([1, 2, 3], 0, 0, False)
    batch.add_embeddings(np.ones((2, 3)), [1, 2], [0], [False, True])
    struct = batch.batch
    assert not struct.token
    assert struct.embd[:9] == [1, 2, 3, 1, 1, 1, 1, 1, 1]
    assert [int(struct.logits[i]) for i in range(3)] == [0, 0, 1]
    with pytest.raises(InvalidArgumentError, match="3 values"):
        batch.add_embedding([1, 2], 3, 0, False)
    with pytest.raises(InvalidArgumentError, match="embeddings"):
        batch.set_batch([1], 0, False)


def test_tokens_with_embeddings() -> None:
    batch = LlamaBatch(4, embd=2, n_seq_max=1, mixed=True)
    batch.add_token_embedding(5, [1, 2], 0, 0, True)
    assert (batch.batch.token[0], batch.batch.embd[:2]) == (5, [1, 2])
    with pytest.raises(InvalidArgumentError, match="another kind"):
        batch.add_embedding([1, 2], 1, 0, True)


def test_embeddings_do_not_go_into_a_batch_of_tokens(batch: LlamaBatch) -> None:
    with pytest.raises(InvalidArgumentError, match="holds tokens"):
        batch.add_embedding([1], 0, 0, False)


def test_positions_with_sections() -> None:
    batch = LlamaBatch(4, embd=1, n_seq_max=1)
    with pytest.raises(InvalidArgumentError, match="enable_mrope_positions"):
        batch.add_embeddings_mrope([[1], [2]], np.zeros((4, 2)), [0], [False, True])
    batch.enable_mrope_positions()
    batch.add_embeddings_mrope([[1], [2]], [[0, 1], [2, 3], [4, 5], [6, 7]], [0], [False, True])
    assert batch.batch.pos[:8] == [0, 1, 2, 3, 4, 5, 6, 7]
    batch.reset()
    with pytest.raises(InvalidArgumentError, match=r"\(4, 2\)"):
        batch.add_embeddings_mrope([[1], [2]], [[0, 1]], [0], [False, True])


def test_a_closed_batch(batch: LlamaBatch) -> None:
    batch.close()
    batch.close()
    with pytest.raises(ClosedError):
        batch.n_tokens()
