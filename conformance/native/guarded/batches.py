"""Batches that native code would not survive."""

from __future__ import annotations

import numpy as np

from llama_cpp import _internals

from .cases import batch_of, case, objects


@case
def more_tokens_than_n_batch() -> None:
    with objects() as (_, context):
        context.decode(batch_of(65))


@case
def tokens_without_causal_attention_beyond_n_ubatch() -> None:
    with objects() as (_, context):
        context.set_causal_attn(False)
        context.decode(batch_of(33))


@case
def encoding_more_than_n_ubatch() -> None:
    with objects("BERT", embeddings=True) as (_, context):
        context.encode(batch_of(33))


@case
def decoding_more_than_n_ubatch_without_memory() -> None:
    with objects("BERT", embeddings=True) as (_, context):
        context.decode(batch_of(33))


@case
def decoding_before_encoding() -> None:
    with objects("T5") as (_, context):
        context.decode(batch_of(2))


@case
def more_outputs_than_n_outputs_max() -> None:
    with objects(n_outputs_max=2) as (_, context):
        context.decode(batch_of(3, logits_all=True))


@case
def an_empty_batch() -> None:
    with objects() as (_, context):
        batch = batch_of(1)
        batch.reset()
        context.decode(batch)


@case
def a_batch_that_claims_more_than_it_holds() -> None:
    with objects() as (_, context):
        batch = batch_of(4)
        batch.batch.n_tokens = 40
        context.decode(batch)


@case
def a_token_outside_the_vocabulary() -> None:
    with objects() as (_, context):
        batch = batch_of(4)
        batch.batch.token[2] = 10**8
        context.decode(batch)


@case
def a_negative_position() -> None:
    with objects() as (_, context):
        batch = _internals.LlamaBatch(2, 0, 1)
        batch.add_token(5, -7, [0], True)
        context.decode(batch)


@case
def a_sequence_that_the_context_lacks() -> None:
    with objects() as (_, context):
        batch = batch_of(2)
        batch.batch.seq_id[1][0] = 3
        context.decode(batch)


@case
def a_token_in_no_sequence() -> None:
    with objects() as (_, context):
        batch = batch_of(2)
        batch.batch.n_seq_id[1] = 0
        context.decode(batch)


@case
def a_token_in_more_sequences_than_there_is_room_for() -> None:
    with objects(n_seq_max=2) as (_, context):
        batch = batch_of(2)
        batch.batch.n_seq_id[1] = 200
        context.decode(batch)


@case
def embeddings_of_another_width() -> None:
    with objects() as (_, context):
        batch = _internals.LlamaBatch(2, 7, 1)
        batch.add_embedding(np.zeros(7), 0, 0, True)
        context.decode(batch)


@case
def a_growing_batch_of_another_context() -> None:
    with objects() as (_, context), objects() as (_, other), _internals.LlamaBatchExt(other) as batch:
        batch.add_token(5, logits=True)
        context.process(batch)


@case
def a_growing_batch_that_is_full() -> None:
    with objects() as (_, context), _internals.LlamaBatchExt(context) as batch:
        for _ in range(65):
            batch.add_token(5)


@case
def a_growing_batch_with_an_embedding_of_another_width() -> None:
    with objects() as (_, context), _internals.LlamaBatchExt(context) as batch:
        batch.add_embedding(np.zeros(7))


@case
def a_growing_batch_that_is_empty() -> None:
    with objects() as (_, context), _internals.LlamaBatchExt(context) as batch:
        context.process(batch)


@case
def a_graph_that_is_too_large() -> None:
    with objects() as (_, context):
        context.graph_reserve(33, 1, 1)
