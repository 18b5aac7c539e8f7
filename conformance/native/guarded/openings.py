"""Constructor arguments that native code would not survive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_cpp import llama_cpp

from .cases import CASES, llama

if TYPE_CHECKING:
    from collections.abc import Callable


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
    "an_override_without_layers": {"kv_overrides": {"llama.block_count": 0}},
    "an_override_with_too_many_layers": {"kv_overrides": {"llama.block_count": 1000}},
    "an_override_with_a_negative_epsilon": {"kv_overrides": {"llama.attention.layer_norm_rms_epsilon": -1.0}},
    "an_override_with_experts_that_are_not_used": {"kv_overrides": {"llama.expert_count": 4}},
    "an_override_of_the_kind_of_vocabulary": {"kv_overrides": {"tokenizer.ggml.model": "bert"}},
    "an_override_of_more_than_64_bits": {"kv_overrides": {"llama.rope.dimension_count": 2**70}},
    "a_tensor_split_that_is_negative": {"tensor_split": [-1.0, 2.0]},
    "a_scale_without_end": {"yarn_beta_slow": float("inf")},
    "nothing_to_evaluate_with": {"no_alloc": True},
    "nothing_that_could_be_mapped": {"no_alloc": True, "load_mode": 1},
    "a_negative_type_of_keys": {"type_k": -1},
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
