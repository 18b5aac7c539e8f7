from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from llama_cpp._engine.batch_ext import BatchExt
from llama_cpp._engine.errors import BatchSizeError, InvalidArgumentError, SequenceIdError, TokenRangeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llama_cpp._engine.context import Context
    from tests.package.engine.fakes import FakeLlama


class FakeBatches:
    """Entries as (token or width, sequences, positions, output); `processed` are copies of them."""

    def __init__(self, native: FakeLlama) -> None:
        self.entries: list[list[Any]] = []
        self.processed: list[Any] = []
        self.refuses = 0
        native.replace("llama_batch_ext_init", lambda _: native.new())
        native.replace("llama_batch_ext_free", lambda pointer: native.calls.append(("free batch", pointer)))
        native.replace("llama_batch_ext_clear", lambda _: self.entries.clear())
        native.replace("llama_batch_ext_add_token", lambda _, seq_id, token: self.add(token, seq_id))
        native.replace("llama_batch_ext_add_embd", lambda _, seq_id, row: self.add(row.n_embd * row.n_rows, seq_id))
        native.replace("llama_batch_ext_add_seq", lambda _, index, seq_id: self.entries[index][1].append(seq_id))
        native.replace("llama_batch_ext_set_pos", lambda _, index, pos: self.entries[index].__setitem__(2, list(pos)))
        native.replace("llama_batch_ext_set_output_logits", lambda _, index, value: self.entries[index].__setitem__(3, value))
        native.replace("llama_process", lambda _context, kind, _batch: self.processed.append((kind, len(self.entries))) or 0)

    def add(self, what: int, seq_id: int) -> int:
        if self.refuses:
            return self.refuses
        self.entries.append([what, [seq_id], None, False])
        return len(self.entries) - 1


@pytest.fixture
def batches(native: FakeLlama) -> FakeBatches:
    return FakeBatches(native)


@pytest.fixture
def context(native: FakeLlama) -> Iterator[Context]:
    with native.model() as model:
        yield native.context(model)


@pytest.fixture
def batch(context: Context, batches: FakeBatches) -> Iterator[BatchExt]:  # noqa: ARG001 - it has to come first
    with BatchExt(context) as made:
        yield made


def test_positions_follow_on(native: FakeLlama, batch: BatchExt, batches: FakeBatches) -> None:
    native.positions = {0: 4}
    batch.add_token(65)
    batch.add_token(66, [1, 0])
    batch.add_token(67, [0], pos=30)
    batch.add_token(68, [0], output=True)
    assert batches.entries == [
        [65, [0], [5] * 4, False],
        [66, [1, 0], [0] * 4, False],
        [67, [0], [30] * 4, False],
        [68, [0], [31] * 4, True],
    ]
    assert (len(batch), batch.outputs.tolist(), batch.sequences) == (4, [0, 0, 0, 1], {0, 1})


def test_embeddings_with_sections(batch: BatchExt, batches: FakeBatches) -> None:
    batch.add_embedding(np.zeros(3), pos=[1, 2])
    assert batches.entries == [[3, [0], [1, 2, 0, 0], False]]


def test_clearing(batch: BatchExt) -> None:
    batch.add_token(65, output=True)
    batch.clear()
    assert (len(batch), batch.outputs.tolist(), batch.sequences) == (0, [], frozenset())


@pytest.mark.parametrize(
    ("add", "kind"),
    [
        (lambda batch: batch.add_token(9999), TokenRangeError),
        (lambda batch: batch.add_token(1, [2]), SequenceIdError),
        (lambda batch: batch.add_token(1, []), SequenceIdError),
        (lambda batch: batch.set_output(0), InvalidArgumentError),
        (lambda batch: [batch.add_token(1) for _ in range(9)], BatchSizeError),
    ],
)
def test_what_native_code_never_sees(batch: BatchExt, batches: FakeBatches, add: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        add(batch)
    assert len(batches.entries) <= 8


@pytest.mark.parametrize(("code", "kind"), [(-1, BatchSizeError), (-2, BatchSizeError), (-3, SequenceIdError)])
def test_entries_that_native_code_refuses(batch: BatchExt, batches: FakeBatches, code: int, kind: type[Exception]) -> None:
    batch.add_token(65)
    batches.refuses = code
    with pytest.raises(kind, match=str(code)):
        batch.add_token(66)
    assert len(batch) == (1 if code == -1 else 0), "half an entry is not kept"


def test_evaluating(context: Context, batch: BatchExt, batches: FakeBatches) -> None:
    batch.add_token(65)
    batch.add_token(66, output=True)
    context.process(batch)
    assert (batches.processed, context.n_outputs) == ([(1, 2)], 1)
    context.process(batch, encode=True)
    assert (batches.processed[-1], context.n_outputs) == ((0, 2), 2)


def test_what_cannot_be_evaluated(native: FakeLlama, context: Context, batch: BatchExt, batches: FakeBatches) -> None:
    with pytest.raises(BatchSizeError):
        context.process(batch)
    batch.add_token(65, output=True)
    other = native.context(context.model, n_outputs_max=1)
    with pytest.raises(InvalidArgumentError, match="another context"):
        other.process(batch)
    with BatchExt(other) as crowded:
        crowded.add_token(65, output=True)
        crowded.add_token(65, output=True)
        with pytest.raises(BatchSizeError, match="n_outputs_max=1"):
            other.process(crowded)
    for _ in range(4):
        batch.add_token(66)
    with pytest.raises(BatchSizeError, match="limit is 4"):
        context.process(batch, encode=True)
    assert batches.processed == []
