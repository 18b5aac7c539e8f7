"""Calls that native code would not survive, one function each; a child process runs them and tells what each one raised.

A function is named for what it does wrong, and has to raise. `main` writes a line before and after each, so that the parent
knows which one ended the process.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from llama_cpp import Llama, ThreadPool, _internals, llama_cpp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CASES: dict[str, Callable[[], object]] = {}
SMALL = {"n_ctx": 256, "n_batch": 64, "n_threads": 1, "n_threads_batch": 1, "verbose": False}


def case(function: Callable[[], object]) -> Callable[[], object]:
    CASES[function.__name__] = function
    return function


def path(kind: str = "LLAMA") -> str:
    return os.environ[f"LLAMA_TEST_SYNTH_{kind}"]


@contextmanager
def llama(kind: str = "LLAMA", **options: Any) -> Iterator[Llama]:
    with Llama(path(kind), **{**SMALL, **options}) as made:
        yield made


@contextmanager
def objects(kind: str = "LLAMA", **options: Any) -> Iterator[tuple[_internals.LlamaModel, _internals.LlamaContext]]:
    params = _internals.LlamaContext.default_params()
    for name, value in {"n_ctx": 256, "n_batch": 64, "n_ubatch": 32, "n_threads": 1, "n_threads_batch": 1, **options}.items():
        setattr(params, name, value)
    with _internals.LlamaModel(path(kind)) as model, _internals.LlamaContext(model, params) as context:
        yield model, context


def batch_of(count: int, *, n_seq_max: int = 1, logits_all: bool = False) -> _internals.LlamaBatch:
    batch = _internals.LlamaBatch(count, 0, n_seq_max)
    batch.set_batch([5] * count, 0, logits_all)
    return batch


# ---- batches ------------------------------------------------------------------------------------------------------


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


# ---- memory -------------------------------------------------------------------------------------------------------


@case
def the_last_position_of_sequence_minus_one() -> None:
    with objects() as (_, context):
        context.memory_seq_pos_max(-1)


@case
def the_first_position_of_a_sequence_out_of_range() -> None:
    with objects() as (_, context):
        context.memory_seq_pos_min(256)


@case
def removing_a_sequence_out_of_range() -> None:
    with objects() as (_, context):
        context.kv_cache_seq_rm(300, -1, -1)


@case
def keeping_a_sequence_out_of_range() -> None:
    with objects() as (_, context):
        context.memory_seq_keep(300)


@case
def shifting_a_sequence_out_of_range() -> None:
    with objects() as (_, context):
        context.kv_cache_seq_shift(-1, 0, -1, 1)


@case
def dividing_positions_by_zero() -> None:
    with objects() as (_, context):
        context.memory_seq_div(0, 0, -1, 0)


@case
def copying_a_part_between_streams() -> None:
    with objects(n_seq_max=2, kv_unified=False) as (_, context):
        context.decode(batch_of(4))
        context.memory_seq_cp(0, 1, 0, 2)


@case
def shifting_where_positions_have_sections() -> None:
    with objects("QWEN35") as (_, context):
        context.decode(batch_of(4))
        context.memory_seq_add(0, 0, -1, 1)


@case
def memory_of_a_model_that_has_none() -> None:
    with objects("BERT", embeddings=True) as (_, context):
        context.memory_clear()


# ---- state --------------------------------------------------------------------------------------------------------


@case
def garbage_from_a_device() -> None:
    with objects() as (_, context):
        context.set_state_seq_data_ext(b"\1" * 64, None, 0, 2)


@case
def a_sequence_that_was_never_saved_on_the_device() -> None:
    with objects() as (_, context), objects() as (_, other):
        context.decode(batch_of(4))
        saved = context.get_state_seq_data_ext(seq_id=0, flags=2)
        other.set_state_seq_data_ext(saved, None, 0, 2)


@case
def an_old_state_of_a_sequence_on_the_device() -> None:
    with objects() as (_, context):
        context.decode(batch_of(4))
        saved = context.get_state_seq_data_ext(seq_id=0, flags=2)
        context.memory_clear()
        context.decode(batch_of(9))
        context.get_state_seq_data_ext(seq_id=0, flags=2)
        context.set_state_seq_data_ext(saved, None, 0, 2)


@case
def other_flags_than_the_device_has() -> None:
    with objects("LFM2") as (_, context):
        context.decode(batch_of(4))
        saved = context.get_state_seq_data_ext(seq_id=0, flags=3)
        context.set_state_seq_data_ext(saved, None, 0, 2)


@case
def a_state_of_a_sequence_out_of_range() -> None:
    with objects() as (_, context):
        context.get_state_seq_size(300)


@case
def a_state_that_is_cut_off() -> None:
    with objects() as (_, context):
        context.decode(batch_of(4))
        saved = context.get_state_data()
        context.set_state_data(saved[: len(saved) // 2])


@case
def a_state_with_flags_that_do_not_exist() -> None:
    with objects() as (_, context):
        context.get_state_seq_data_ext(seq_id=0, flags=64)


@case
def a_state_file_that_is_garbage() -> None:
    with objects() as (_, context):
        context.load_state_file(__file__)


@case
def a_sequence_file_that_is_garbage() -> None:
    with objects() as (_, context):
        context.load_state_seq_file(__file__, 0)


# ---- samplers -----------------------------------------------------------------------------------------------------


@case
def a_chain_without_a_selecting_sampler() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        context.decode(batch_of(4))
        sampler.add_top_k(5).sample(context)


@case
def an_output_that_does_not_exist() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        context.decode(batch_of(4))
        sampler.add_greedy().sample(context, 2)


@case
def sampling_before_anything_was_evaluated() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        sampler.add_greedy().sample(context)


@case
def sampling_through_llama_before_anything_was_evaluated() -> None:
    with llama() as made:
        made.sample(temp=0)


@case
def sampling_through_llama_at_a_place_that_left_no_logits() -> None:
    with llama() as made:
        made.eval([1, 2, 3])
        made.sample(temp=0, idx=7)


@case
def the_same_chain_for_two_sequences() -> None:
    with objects(n_seq_max=2) as (_, context), _internals.LlamaSampler() as sampler:
        sampler.add_greedy()
        context.set_sampler(0, sampler)
        context.set_sampler(1, sampler)


@case
def a_chain_for_the_device_twice() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        sampler.add_greedy()
        context.set_sampler(0, sampler)
        context.set_sampler(0, None)
        context.set_sampler(0, sampler)


@case
def another_chain_where_the_device_samples() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler, _internals.LlamaSampler() as other:
        context.set_sampler(0, sampler.add_top_k(3).add_dist(1))
        context.decode(batch_of(4))
        other.add_greedy().sample(context)


@case
def a_chain_of_the_device_on_an_older_output() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        context.decode(batch_of(4))
        context.set_sampler(0, sampler.add_greedy())
        sampler.sample(context)


@case
def penalties_on_a_device_without_the_size_of_the_vocabulary() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        context.set_sampler(0, sampler.add_penalties(64, 1.1, 0, 0).add_greedy())


@case
def a_grammar_on_a_device() -> None:
    with objects() as (model, context), _internals.LlamaSampler() as sampler:
        context.set_sampler(0, sampler.add_grammar(model, 'root ::= "a"').add_greedy())


@case
def two_outputs_of_a_sequence_on_a_device() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        context.set_sampler(0, sampler.add_greedy())
        context.decode(batch_of(4, logits_all=True))


@case
def adding_behind_a_selecting_sampler() -> None:
    with _internals.LlamaSampler() as sampler:
        sampler.add_greedy().add_top_k(5)


@case
def a_token_that_the_grammar_does_not_allow() -> None:
    with objects() as (model, _), _internals.GrammarSampler(model, 'root ::= "a"') as grammar:
        grammar.accept(model.tokenize(b"zzz", False, False)[-1])


@case
def the_end_before_the_grammar_allows_it() -> None:
    with objects() as (model, _), _internals.LlamaSampler() as sampler:
        sampler.add_grammar(model, 'root ::= "ab"').add_greedy().accept(model.token_eos())


@case
def a_grammar_that_is_none() -> None:
    with objects() as (model, _):
        _internals.GrammarSampler(model, "root ::= (")


@case
def a_grammar_without_its_root() -> None:
    with objects() as (model, _):
        _internals.GrammarSampler(model, 'other ::= "a"')


@case
def a_grammar_that_begins_with_itself() -> None:
    with llama() as made:
        made.create_completion("a", grammar='root ::= root "a" | "a"')


@case
def a_trigger_that_is_no_regular_expression() -> None:
    with objects() as (model, _):
        _internals.GrammarSampler(model, 'root ::= "a"', lazy=True, triggers=["[z-"])


@case
def a_trigger_whose_text_the_grammar_refuses() -> None:
    with objects() as (model, _), _internals.GrammarSampler(model, 'root ::= "a"', lazy=True, triggers=["(z)"]) as grammar:
        for token in model.tokenize(b"zz", False, False):
            grammar.accept(token)


@case
def a_bias_outside_the_vocabulary() -> None:
    with llama() as made:
        made.create_completion("a", logit_bias={10**7: 1.0})


@case
def a_bias_of_a_chain_outside_the_vocabulary() -> None:
    with objects() as (model, _), _internals.LlamaSampler() as sampler:
        sampler.add_logit_bias(model, {-4: 1.0})


@case
def a_custom_sampler_that_raises() -> None:
    def fail(_: object) -> None:
        raise ValueError("its own")

    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        context.decode(batch_of(4))
        sampler.add_custom(fail).add_dist(1).sample(context)


@case
def a_custom_sampler_that_leaves_nothing() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        context.decode(batch_of(4))
        sampler.add_custom(lambda candidates: setattr(candidates, "size", 0)).add_dist(1).sample(context)


@case
def a_custom_sampler_that_leaves_no_number() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        context.decode(batch_of(4))
        sampler.add_custom(lambda candidates: candidates.logits.fill(np.nan)).add_dist(1).sample(context)


@case
def a_custom_sampler_alone_that_selects_nothing() -> None:
    with objects() as (_, context), _internals.LlamaSampler() as sampler:
        context.decode(batch_of(4))
        sampler.add_custom(lambda _: None).sample(context)


@case
def a_custom_sampler_whose_copy_fails() -> None:
    def fail() -> _internals.CustomSampler:
        raise ValueError("its own")

    with _internals.LlamaSampler() as sampler:
        sampler.add_custom(_internals.CustomSampler(lambda _: None, clone_func=fail)).clone()


@case
def logits_that_a_processor_made_no_numbers() -> None:
    with llama() as made:
        made.create_completion("a", logits_processor=lambda _, scores: scores * np.nan)


# ---- vocabulary ---------------------------------------------------------------------------------------------------


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


# ---- lifetimes ----------------------------------------------------------------------------------------------------


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


# ---- settings -----------------------------------------------------------------------------------------------------


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


OPTIONS: dict[str, dict[str, Any]] = {
    "a_million_threads": {"n_threads": 10**6},
    "no_batch": {"n_batch": 0},
    "a_negative_batch": {"n_batch": -1},
    "too_many_sequences": {"n_seq_max": 300},
    "an_unknown_cache_type": {"type_k": 999},
    "a_negative_cache_type": {"type_v": -3},
    "a_cache_type_that_attention_cannot_read": {"type_k": llama_cpp.GGML_TYPE_I8},
    "an_unknown_rope_scaling": {"rope_scaling_type": 99},
    "an_unknown_pooling": {"pooling_type": 99},
    "an_unknown_attention": {"attention_type": 99},
    "an_unknown_flash_attention": {"flash_attn_type": 99},
    "an_unknown_context_type": {"ctx_type": 99},
    "an_unknown_split_mode": {"split_mode": 99},
    "an_unknown_load_mode": {"load_mode": 99},
    "a_tensor_split_for_too_many": {"tensor_split": [1.0] * 1000},
    "an_override_of_an_unknown_type": {"kv_overrides": {"a": [1]}},
    "an_override_that_does_not_fit_the_file": {"kv_overrides": {"llama.embedding_length": 7}},
    "a_quantized_cache_that_does_not_fit_the_heads": {"type_k": llama_cpp.GGML_TYPE_Q4_0, "flash_attn_type": 0},
    "a_quantized_cache_without_flash_attention": {"type_v": llama_cpp.GGML_TYPE_Q4_0, "flash_attn_type": 0},
    "an_unknown_numa_strategy": {"numa": 99},
    "an_rpc_server_that_is_not_there": {"rpc_servers": "127.0.0.1:9"},
    "prediction_without_its_layers": {"ctx_type": llama_cpp.LLAMA_CONTEXT_TYPE_MTP},
    "prediction_that_the_model_lacks": {"ctx_type": llama_cpp.LLAMA_CONTEXT_TYPE_MTP, "load_mtp": True},
}


def opening(name: str) -> Callable[[], object]:
    def open_and_use() -> None:
        with llama(**OPTIONS[name]) as made:
            made.create_completion("a", max_tokens=2)

    return open_and_use


CASES.update({f"opening_with_{name}": opening(name) for name in OPTIONS})


def main(names: list[str]) -> None:
    for name in names:
        print(json.dumps({"begins": name}), flush=True)
        try:
            CASES[name]()
        except Exception as error:  # noqa: BLE001 - told to the parent
            outcome = [type(error).__name__, str(error), isinstance(error, (ValueError, RuntimeError, TypeError))]
        else:
            outcome = None
        print(json.dumps({"name": name, "outcome": outcome}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or list(CASES))
