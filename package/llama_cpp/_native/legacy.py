"""Names of the published Python lineages that the pinned headers no longer have, by what replaced them."""

from __future__ import annotations

import ctypes
from enum import IntEnum
from typing import TYPE_CHECKING

from llama_cpp._native.bindings import llama
from llama_cpp._native.bindings.constants.ggml import ggml_status

if TYPE_CHECKING:
    from llama_cpp._native.bindings.declarations.llama import llama_context_p, llama_memory_t

__all__ = [
    "LLAMA_PARAMS_FIT_STATUS_ERROR",
    "LLAMA_PARAMS_FIT_STATUS_FAILURE",
    "LLAMA_PARAMS_FIT_STATUS_SUCCESS",
    "GGMLStatus",
    "LlamaModelKVOverrideType",
    "LlamaModelMetaKey",
    "llama_apply_adapter_cvec",
    "llama_get_kv_self",
    "llama_kv_self_can_shift",
    "llama_kv_self_clear",
    "llama_kv_self_seq_add",
    "llama_kv_self_seq_cp",
    "llama_kv_self_seq_div",
    "llama_kv_self_seq_keep",
    "llama_kv_self_seq_pos_max",
    "llama_kv_self_seq_pos_min",
    "llama_kv_self_seq_rm",
    "llama_log_callback",
    "llama_params_fit_status",
]

GGMLStatus = ggml_status
LlamaModelKVOverrideType = llama.llama_model_kv_override_type
LlamaModelMetaKey = llama.llama_model_meta_key

llama_log_callback = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
llama_apply_adapter_cvec = llama.llama_set_adapter_cvec
llama_get_kv_self = llama.llama_get_memory


class llama_params_fit_status(IntEnum):  # noqa: N801 - a C name
    """Outcome of fitting parameters to the memory of the devices."""

    LLAMA_PARAMS_FIT_STATUS_SUCCESS = 0
    LLAMA_PARAMS_FIT_STATUS_FAILURE = 1
    LLAMA_PARAMS_FIT_STATUS_ERROR = 2


LLAMA_PARAMS_FIT_STATUS_SUCCESS = 0
LLAMA_PARAMS_FIT_STATUS_FAILURE = 1
LLAMA_PARAMS_FIT_STATUS_ERROR = 2


def _memory(ctx: llama_context_p) -> llama_memory_t:
    memory = llama.llama_get_memory(ctx)
    if memory is None:
        raise ValueError("this context has no memory: its model keeps no state between tokens")
    return memory


def llama_kv_self_clear(ctx: llama_context_p, /) -> None:
    """See llama_memory_clear; the data is cleared too."""
    llama.llama_memory_clear(_memory(ctx), True)


def llama_kv_self_seq_rm(ctx: llama_context_p, seq_id: int, p0: int, p1: int, /) -> bool:
    """See llama_memory_seq_rm."""
    return llama.llama_memory_seq_rm(_memory(ctx), seq_id, p0, p1)


def llama_kv_self_seq_cp(ctx: llama_context_p, seq_id_src: int, seq_id_dst: int, p0: int, p1: int, /) -> None:
    """See llama_memory_seq_cp."""
    llama.llama_memory_seq_cp(_memory(ctx), seq_id_src, seq_id_dst, p0, p1)


def llama_kv_self_seq_keep(ctx: llama_context_p, seq_id: int, /) -> None:
    """See llama_memory_seq_keep."""
    llama.llama_memory_seq_keep(_memory(ctx), seq_id)


def llama_kv_self_seq_add(ctx: llama_context_p, seq_id: int, p0: int, p1: int, delta: int, /) -> None:
    """See llama_memory_seq_add."""
    llama.llama_memory_seq_add(_memory(ctx), seq_id, p0, p1, delta)


def llama_kv_self_seq_div(ctx: llama_context_p, seq_id: int, p0: int, p1: int, d: int, /) -> None:
    """See llama_memory_seq_div."""
    llama.llama_memory_seq_div(_memory(ctx), seq_id, p0, p1, d)


def llama_kv_self_seq_pos_min(ctx: llama_context_p, seq_id: int, /) -> int:
    """See llama_memory_seq_pos_min."""
    return llama.llama_memory_seq_pos_min(_memory(ctx), seq_id)


def llama_kv_self_seq_pos_max(ctx: llama_context_p, seq_id: int, /) -> int:
    """See llama_memory_seq_pos_max."""
    return llama.llama_memory_seq_pos_max(_memory(ctx), seq_id)


def llama_kv_self_can_shift(ctx: llama_context_p, /) -> bool:
    """See llama_memory_can_shift."""
    return llama.llama_memory_can_shift(_memory(ctx))
