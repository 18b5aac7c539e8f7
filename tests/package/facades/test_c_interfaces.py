"""What the historic modules of C names export."""

from __future__ import annotations

import ctypes
import enum
import importlib

import pytest

import llama_cpp.llama_cpp as api
from llama_cpp._native import overrides
from llama_cpp._native.bindings import llama

MODULES = ("llama_cpp", "mtmd_cpp", "_ggml", "llama_cpp_ext")


@pytest.mark.parametrize("name", MODULES)
def test_star_import_gives_every_c_name_and_nothing_else(name: str) -> None:
    module = importlib.import_module(f"llama_cpp.{name}")
    namespace: dict[str, object] = {}
    exec(f"from llama_cpp.{name} import *", namespace)  # noqa: S102
    namespace.pop("__builtins__")
    assert set(namespace) == set(module.__all__)
    own = ("llama_", "LLAMA_", "ggml_", "GGML_", "gguf_", "GGUF_", "mtmd_", "MTMD_", "RPC_", "quantize_")
    others = {each for each in namespace if not each.startswith(own)}
    assert others <= {"byref", "GGMLStatus", "LlamaModelKVOverrideType", "LlamaModelMetaKey"}


def test_all_of_llama_h_is_there() -> None:
    assert set(llama.__all__) <= set(api.__all__)


@pytest.mark.parametrize(
    "name",
    [
        # What published programs use.
        "llama_batch_init", "llama_batch_free", "llama_get_memory", "llama_memory_seq_rm", "llama_decode", "llama_get_logits",
        "llama_model_get_vocab", "llama_vocab_n_tokens", "llama_vocab_eos", "llama_token_to_piece", "llama_token_get_attr",
        "LLAMA_TOKEN_ATTR_CONTROL", "LLAMA_TOKEN_ATTR_USER_DEFINED", "llama_vocab_p", "llama_supports_gpu_offload",
        "LLAMA_POOLING_TYPE_NONE", "LLAMA_SPLIT_MODE_LAYER", "GGML_TYPE_Q8_0", "LLAMA_FLASH_ATTN_TYPE_AUTO",
        "LLAMA_ROPE_SCALING_TYPE_YARN", "LLAMA_FTYPE_MOSTLY_Q4_K_M", "LLAMA_LOAD_MODE_MMAP", "LLAMA_KV_OVERRIDE_TYPE_INT",
        "LLAMA_ATTENTION_TYPE_CAUSAL", "LLAMA_VOCAB_TYPE_BPE", "LLAMA_VOCAB_PRE_TYPE_LLAMA3", "LLAMA_DEFAULT_SEED", "LLAMA_MAX_SEQ",
        "LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY", "GGML_NUMA_STRATEGY_DISTRIBUTE", "llama_model_p", "llama_model_p_ctypes",
        "llama_memory_t", "llama_token_p", "llama_token_data_array_p", "llama_log_callback", "ggml_log_callback", "llama_kv_self_clear",
    ],
)  # fmt: skip
def test_names_that_programs_use(name: str) -> None:
    assert name in api.__all__


@pytest.mark.parametrize(
    "name",
    [
        "llama_split_mode", "llama_load_mode", "llama_flash_attn_type", "llama_attention_type", "llama_rope_scaling_type",
        "llama_rope_type", "llama_context_type", "llama_ftype", "llama_token_type", "llama_vocab_pre_type",
        "llama_params_fit_status", "ggml_type", "GGMLStatus", "LlamaModelKVOverrideType", "LlamaModelMetaKey",
    ],
)  # fmt: skip
def test_enumerations_are_classes(name: str) -> None:
    assert issubclass(getattr(api, name), enum.IntEnum)


@pytest.mark.parametrize("name", ["llama_pooling_type", "llama_vocab_type"])
def test_functions_keep_a_name_shared_with_an_enumeration(name: str) -> None:
    assert not isinstance(getattr(api, name), type)
    assert issubclass(getattr(api, f"{name}_enum"), enum.IntEnum)


def test_overrides_win_over_bindings() -> None:
    for name in overrides.__all__:
        if name.startswith("llama_"):
            assert getattr(api, name) is getattr(overrides, name)
    ggml = importlib.import_module("llama_cpp._ggml")
    assert ggml.ggml_backend_load_all is overrides.ggml_backend_load_all


def test_both_ways_to_write_an_override_value() -> None:
    override = api.llama_model_kv_override(key=b"k", tag=api.LLAMA_KV_OVERRIDE_TYPE_INT)
    override.value.val_i64 = 5
    assert override.val_i64 == 5
    assert api.llama_chat_message(role=b"user", content=b"hi").role == b"user"
    assert ctypes.sizeof(api.llama_model_params) == 80


def test_libraries_are_attributes_and_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match=r"llama_cpp\.llama_cpp.*'nonsense'"):
        api.nonsense  # noqa: B018
