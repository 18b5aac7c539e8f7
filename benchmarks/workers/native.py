"""The few functions of llama.cpp that a decode loop needs, bound by hand and used by nobody else.

The loop that the package is measured against must owe nothing to the package; a unit test compares the
structures with the generated ones.
"""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import POINTER, c_bool, c_char_p, c_float, c_int8, c_int32, c_size_t, c_uint32, c_void_p
from pathlib import Path


class ModelParams(ctypes.Structure):
    """struct llama_model_params."""

    _fields_ = [
        ("devices", c_void_p),
        ("tensor_buft_overrides", c_void_p),
        ("n_gpu_layers", c_int32),
        ("split_mode", ctypes.c_int),
        ("load_mode", ctypes.c_int),
        ("lazy_mode", ctypes.c_int),
        ("main_gpu", c_int32),
        ("tensor_split", c_void_p),
        ("progress_callback", c_void_p),
        ("progress_callback_user_data", c_void_p),
        ("kv_overrides", c_void_p),
        ("vocab_only", c_bool),
        ("check_tensors", c_bool),
        ("use_extra_bufts", c_bool),
        ("no_host", c_bool),
        ("no_alloc", c_bool),
        ("load_mtp", c_bool),
    ]


class ContextParams(ctypes.Structure):
    """struct llama_context_params."""

    _fields_ = [
        ("n_ctx", c_uint32),
        ("n_batch", c_uint32),
        ("n_ubatch", c_uint32),
        ("n_seq_max", c_uint32),
        ("n_rs_seq", c_uint32),
        ("n_outputs_max", c_uint32),
        ("n_outputs_max_per_seq", c_uint32),
        ("n_threads", c_int32),
        ("n_threads_batch", c_int32),
        ("ctx_type", ctypes.c_int),
        ("rope_scaling_type", ctypes.c_int),
        ("pooling_type", ctypes.c_int),
        ("attention_type", ctypes.c_int),
        ("flash_attn_type", ctypes.c_int),
        ("rope_freq_base", c_float),
        ("rope_freq_scale", c_float),
        ("yarn_ext_factor", c_float),
        ("yarn_attn_factor", c_float),
        ("yarn_beta_fast", c_float),
        ("yarn_beta_slow", c_float),
        ("yarn_orig_ctx", c_uint32),
        ("defrag_thold", c_float),
        ("cb_eval", c_void_p),
        ("cb_eval_user_data", c_void_p),
        ("type_k", ctypes.c_int),
        ("type_v", ctypes.c_int),
        ("abort_callback", c_void_p),
        ("abort_callback_data", c_void_p),
        ("embeddings", c_bool),
        ("offload_kqv", c_bool),
        ("no_perf", c_bool),
        ("op_offload", c_bool),
        ("swa_full", c_bool),
        ("kv_unified", c_bool),
        ("samplers", c_void_p),
        ("n_samplers", c_size_t),
        ("ctx_other", c_void_p),
    ]


class ChainParams(ctypes.Structure):
    """struct llama_sampler_chain_params."""

    _fields_ = [("no_perf", c_bool)]


class Batch(ctypes.Structure):
    """struct llama_batch."""

    _fields_ = [
        ("n_tokens", c_int32),
        ("token", POINTER(c_int32)),
        ("embd", POINTER(c_float)),
        ("pos", POINTER(c_int32)),
        ("n_seq_id", POINTER(c_int32)),
        ("seq_id", POINTER(POINTER(c_int32))),
        ("logits", POINTER(c_int8)),
    ]


LogCallback = ctypes.CFUNCTYPE(None, ctypes.c_int, c_char_p, c_void_p)

_LLAMA: dict[str, tuple[object, list[object]]] = {
    "llama_backend_init": (None, []),
    "llama_log_set": (None, [LogCallback, c_void_p]),
    "llama_model_default_params": (ModelParams, []),
    "llama_model_load_from_file": (c_void_p, [c_char_p, ModelParams]),
    "llama_model_free": (None, [c_void_p]),
    "llama_model_get_vocab": (c_void_p, [c_void_p]),
    "llama_context_default_params": (ContextParams, []),
    "llama_init_from_model": (c_void_p, [c_void_p, ContextParams]),
    "llama_free": (None, [c_void_p]),
    "llama_get_memory": (c_void_p, [c_void_p]),
    "llama_memory_clear": (None, [c_void_p, c_bool]),
    "llama_batch_init": (Batch, [c_int32, c_int32, c_int32]),
    "llama_batch_free": (None, [Batch]),
    "llama_get_embeddings_seq": (POINTER(c_float), [c_void_p, c_int32]),
    "llama_model_n_embd": (c_int32, [c_void_p]),
    "llama_batch_get_one": (Batch, [POINTER(c_int32), c_int32]),
    "llama_decode": (c_int32, [c_void_p, Batch]),
    "llama_synchronize": (None, [c_void_p]),
    "llama_vocab_n_tokens": (c_int32, [c_void_p]),
    "llama_vocab_is_eog": (c_bool, [c_void_p, c_int32]),
    "llama_tokenize": (c_int32, [c_void_p, c_char_p, c_int32, POINTER(c_int32), c_int32, c_bool, c_bool]),
    "llama_detokenize": (c_int32, [c_void_p, POINTER(c_int32), c_int32, c_char_p, c_int32, c_bool, c_bool]),
    "llama_sampler_chain_init": (c_void_p, [ChainParams]),
    "llama_sampler_chain_default_params": (ChainParams, []),
    "llama_sampler_chain_add": (None, [c_void_p, c_void_p]),
    "llama_sampler_init_greedy": (c_void_p, []),
    "llama_sampler_init_dist": (c_void_p, [c_uint32]),
    "llama_sampler_init_top_k": (c_void_p, [c_int32]),
    "llama_sampler_init_top_p": (c_void_p, [c_float, c_size_t]),
    "llama_sampler_init_min_p": (c_void_p, [c_float, c_size_t]),
    "llama_sampler_init_temp": (c_void_p, [c_float]),
    "llama_sampler_reset": (None, [c_void_p]),
    "llama_sampler_free": (None, [c_void_p]),
    "llama_sampler_sample": (c_int32, [c_void_p, c_void_p, c_int32]),
}


class Native:
    """llama.cpp opened from one folder, with the backends that ggml itself finds best there.

    With `running`, the process has these libraries in use already: they are bound, and nothing of them is set up.
    """

    def __init__(self, folder: Path, *, running: bool = False) -> None:
        suffix, prefix = {"win32": (".dll", ""), "darwin": (".dylib", "lib")}.get(sys.platform, (".so", "lib"))
        if sys.platform == "win32":
            os.add_dll_directory(str(folder))
        opened = {name: ctypes.CDLL(str(folder / f"{prefix}{name}{suffix}")) for name in ("ggml-base", "ggml", "llama")}
        self.lib = opened["llama"]
        for name, (result, arguments) in _LLAMA.items():
            function = getattr(self.lib, name)
            function.restype, function.argtypes = result, arguments
        if running:
            return
        self._quiet = LogCallback(lambda _level, _text, _data: None)
        self.lib.llama_log_set(self._quiet, None)
        load_all = opened["ggml"].ggml_backend_load_all_from_path
        load_all.restype, load_all.argtypes = None, [c_char_p]
        load_all(str(folder).encode())
        self.lib.llama_backend_init()
