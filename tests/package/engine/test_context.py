from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from llama_cpp._engine.batch import Batch
from llama_cpp._engine.errors import (
    BatchSizeError,
    CacheFullError,
    ClosedError,
    ContextCreateError,
    DecodeAborted,
    OutputIndexError,
    SequenceIdError,
    TokenRangeError,
)
from llama_cpp._native.bindings import llama
from tests.package.engine.fakes import N_VOCAB, FakeLlama

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llama_cpp._engine.context import Context
    from llama_cpp._engine.model import Model


@pytest.fixture
def model(native: FakeLlama) -> Iterator[Model]:
    with native.model() as made:
        yield made


@pytest.fixture
def context(native: FakeLlama, model: Model) -> Context:
    return native.context(model)


def test_one_token_at_a_time(native: FakeLlama, context: Context) -> None:
    context.decode_one(65, 3)
    context.decode_one(66, 4, seq_id=1)
    assert native.decoded == [
        {"tokens": [65], "pos": [3], "seq": [0], "outputs": [1]},
        {"tokens": [66], "pos": [4], "seq": [1], "outputs": [1]},
    ]
    assert context.logits().argmax() == 66
    assert context.logits().shape == (N_VOCAB,)


def test_long_input_is_split_and_only_the_last_token_leaves_a_row(native: FakeLlama, context: Context) -> None:
    context.decode(range(20))
    assert [len(each["tokens"]) for each in native.decoded] == [8, 8, 4]
    assert [each["pos"][0] for each in native.decoded] == [0, 8, 16]
    assert [sum(each["outputs"]) for each in native.decoded] == [0, 0, 1]
    assert context.n_outputs == 1
    assert context.logits(3).argmax() == context.logits(-1).argmax() == 19


def test_rows_of_all_tokens_can_be_copied_chunk_by_chunk(context: Context) -> None:
    rows = {}
    for part in context.decode_chunks(np.arange(20), outputs="all"):
        rows.update(zip(range(part.start, part.stop), context.logits_rows().argmax(axis=1).tolist(), strict=True))
    assert rows == {number: number for number in range(20)}


def test_outputs_are_limited_to_what_the_context_holds(native: FakeLlama, model: Model) -> None:
    context = native.context(model, n_outputs_max=3)
    context.decode(range(7), outputs="all")
    assert [len(each["tokens"]) for each in native.decoded] == [3, 3, 1]
    context.decode(range(7))
    assert len(native.decoded[-1]["tokens"]) == 7


def test_positions_go_on_where_memory_ends(native: FakeLlama, context: Context) -> None:
    context.decode([1, 2, 3])
    context.decode([4])
    context.decode([5], seq_id=1)
    context.decode([6], pos=40)
    assert [each["pos"] for each in native.decoded] == [[0, 1, 2], [3], [0], [40]]


def test_a_context_for_embeddings_outputs_every_token(native: FakeLlama, model: Model) -> None:
    context = native.context(model, embeddings=True)
    context.decode([1, 2, 3])
    assert native.decoded[0]["outputs"] == [1, 1, 1]
    with pytest.raises(OutputIndexError, match="no embeddings"):
        context.embeddings()


@pytest.mark.parametrize("memory", [None, 77])
def test_without_causal_attention_nothing_is_split(native: FakeLlama, model: Model, memory: Any) -> None:
    native.memory, native.causal = memory, False
    context = native.context(model)
    assert (context.memory is None) == (memory is None)
    with pytest.raises(BatchSizeError, match="n_ubatch=4"):
        context.decode(range(5))
    context.decode(range(4))
    assert len(native.decoded) == 1


@pytest.mark.parametrize("token", [-1, N_VOCAB])
def test_tokens_out_of_range(native: FakeLlama, context: Context, token: int) -> None:
    for call in (lambda: context.decode([1, token]), lambda: context.decode_one(token, 0), lambda: context.encode([token])):
        with pytest.raises(TokenRangeError):
            call()
    assert native.decoded == []


@pytest.mark.parametrize("seq_id", [-1, 2])
def test_sequences_out_of_range(native: FakeLlama, context: Context, seq_id: int) -> None:
    for call in (lambda: context.decode([1], seq_id=seq_id), lambda: context.decode_one(1, 0, seq_id)):
        with pytest.raises(SequenceIdError):
            call()
    with pytest.raises(SequenceIdError):
        context.embeddings_seq(seq_id)
    assert native.decoded == []


def test_nothing_to_evaluate(context: Context) -> None:
    with pytest.raises(BatchSizeError, match="no tokens"):
        context.decode([])


def test_a_batch_of_the_callers_own(context: Context) -> None:
    batch = Batch(9, n_seq_max=2)
    for number in range(8):
        batch.add(number, pos=number, seq_ids=(number % 2,), output=number in (2, 5))
    context.decode_batch(batch)
    assert context.n_outputs == 2
    assert [context.logits(index).argmax() for index in (-2, -1)] == [2, 5]
    with pytest.raises(OutputIndexError):
        context.logits(3)


def damaged(change: Any) -> Any:
    batch = Batch(9, n_seq_max=2)
    batch.add(1, pos=0)
    batch.add(2, pos=1)
    change(batch)
    return batch


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda batch: batch.clear(), BatchSizeError),
        (lambda batch: setattr(batch, "size", 9), BatchSizeError),
        (lambda batch: batch.tokens.__setitem__(1, -5), TokenRangeError),
        (lambda batch: batch.seq_ids.__setitem__((1, 0), 2), SequenceIdError),
        (lambda batch: batch.seq_ids.__setitem__((1, 0), -1), SequenceIdError),
        (lambda batch: batch.n_seq_ids.__setitem__(0, 0), SequenceIdError),
        (lambda batch: batch.n_seq_ids.__setitem__(0, 3), SequenceIdError),
    ],
)
def test_a_batch_that_native_code_would_not_survive(native: FakeLlama, context: Context, change: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        context.decode_batch(damaged(change))
    assert native.decoded == []


def test_a_batch_with_too_many_outputs(native: FakeLlama, model: Model) -> None:
    context = native.context(model, n_outputs_max=1)
    batch = Batch(2)
    for pos in range(2):
        batch.add(pos, pos=pos, output=True)
    with pytest.raises(BatchSizeError, match="n_outputs_max=1"):
        context.decode_batch(batch)


def test_encoding_is_never_split(native: FakeLlama, context: Context) -> None:
    context.encode([1, 2])
    assert native.decoded[0]["outputs"] == [1, 1]
    with pytest.raises(BatchSizeError, match="limit is 4"):
        context.encode(range(5))


def test_a_failure_leaves_no_rows(native: FakeLlama, context: Context) -> None:
    context.decode([1])
    native.code = 1
    with pytest.raises(CacheFullError):
        context.decode([2])
    with pytest.raises(OutputIndexError):
        context.logits()


def test_an_abort_holds_until_it_is_cleared(native: FakeLlama, context: Context) -> None:
    stops = native.params.abort_callback
    assert not stops(native.params.abort_callback_data)

    def decode(_ctx: Any, _batch: Any) -> Any:
        return 2 if stops(native.params.abort_callback_data) else 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(llama, "llama_decode", decode)
        for evaluate in (lambda: context.decode([1]), lambda: context.decode_one(1, 0)):
            context.abort()  # between two evaluations: the next one must see it
            for _ in range(2):
                with pytest.raises(DecodeAborted):
                    evaluate()
            context.clear_abort()
            evaluate()


def test_the_context_is_freed_before_its_model(native: FakeLlama, model: Model) -> None:
    context = native.context(model)
    pointers = context.pointer, model.pointer
    model.close()
    assert native.calls == [("free context", pointers[0]), ("free model", pointers[1])]
    for call in (lambda: context.decode([1]), lambda: context.decode_one(1, 0), context.logits, lambda: context.n_threads):
        with pytest.raises((ClosedError, OutputIndexError)):
            call()
    assert native.decoded == []


def test_a_context_that_cannot_be_made(native: FakeLlama, model: Model) -> None:
    native.replace("llama_init_from_model", lambda *_: None)
    with pytest.raises(ContextCreateError, match="could not be created"):
        native.context(model)


def test_a_model_without_weights(native: FakeLlama) -> None:
    with native.model(vocab_only=True) as model, pytest.raises(ContextCreateError, match="vocab_only"):
        native.context(model)
