"""Tokens, objects and settings that native code would not survive."""

from __future__ import annotations

import os

from llama_cpp import ThreadPool, _internals, llama_cpp

from .cases import batch_of, case, llama, objects


@case
def the_text_of_a_token_out_of_range() -> None:
    with objects() as (model, _):
        model.token_get_text(10**7)


@case
def the_piece_of_a_token_out_of_range() -> None:
    with objects() as (model, _):
        model.token_to_piece(-5)


@case
def detokenizing_what_does_not_exist() -> None:
    with llama() as made:
        made.detokenize([1, 10**7])


@case
def the_attributes_of_a_token_out_of_range() -> None:
    with objects() as (model, _):
        model.token_get_attr(10**7)


@case
def a_prompt_token_out_of_range() -> None:
    with llama() as made:
        made.create_completion([1, -2])


@case
def a_context_whose_model_was_closed() -> None:
    with objects() as (model, context):
        model.close()
        context.decode(batch_of(2))


@case
def a_sampler_that_was_closed() -> None:
    with objects() as (_, context):
        sampler = _internals.LlamaSampler().add_greedy()
        sampler.close()
        context.decode(batch_of(2))
        sampler.sample(context)


@case
def views_of_a_llama_that_was_closed() -> None:
    with llama() as made:
        context = made._ctx
    context.memory_clear()


@case
def an_adapter_that_was_closed_while_in_force() -> None:
    with objects() as (model, context):
        with _internals.LlamaLoraAdapter(model, os.environ["LLAMA_TEST_SYNTH_LORA"]) as adapter:
            context.set_adapters_lora({adapter: 1.0})
        context.decode(batch_of(2))
        raise ValueError("it was taken out of force before it was freed")


@case
def logits_after_the_context_was_closed() -> None:
    with objects() as (_, context):
        context.decode(batch_of(2))
        context.close()
        context.get_logits_ith(-1)


@case
def no_threads() -> None:
    with objects() as (_, context):
        context.set_n_threads(0, 1)


@case
def fewer_threads_in_a_pool_than_are_asked_for() -> None:
    with objects() as (_, context), ThreadPool(1) as pool:
        context.attach_threadpool(pool)
        context.set_n_threads(4, 4)


@case
def a_null_pointer_as_thread_pool() -> None:
    with objects() as (_, context):
        context.attach_threadpool(0)


@case
def a_context_for_prediction_without_its_layers() -> None:
    with objects(ctx_type=llama_cpp.LLAMA_CONTEXT_TYPE_MTP):
        pass


@case
def logits_where_there_are_only_embeddings() -> None:
    with objects("BERT", embeddings=True) as (_, context):
        context.encode(batch_of(4))
        context.get_logits_ith(-1)


@case
def embeddings_that_nobody_asked_for() -> None:
    with objects() as (_, context):
        context.decode(batch_of(4))
        context.get_embeddings_ith(-1)


@case
def pooled_embeddings_of_a_sequence_out_of_range() -> None:
    with objects() as (_, context):
        context.get_embeddings_seq(300)
