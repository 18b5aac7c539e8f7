"""Which numbers the parameters of a model or a context may have, where native code would end the process, or guess, at others."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from llama_cpp._native.bindings import ggml, llama

from .errors import InvalidArgumentError

if TYPE_CHECKING:
    from .model import Model

_ENUMERATIONS: Mapping[str, type[IntEnum]] = {
    "attention_type": llama.llama_attention_type,
    "ctx_type": llama.llama_context_type,
    "flash_attn_type": llama.llama_flash_attn_type,
    "lazy_mode": llama.llama_lazy_mode,
    "load_mode": llama.llama_load_mode,
    "pooling_type": llama.llama_pooling_type_enum,
    "rope_scaling_type": llama.llama_rope_scaling_type,
    "split_mode": llama.llama_split_mode,
}
_CACHE_TYPES = ("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "IQ4_NL", "Q5_0", "Q5_1")
MOST_LAYERS = 512  # LLAMA_MAX_LAYERS: a constant of llama.cpp's build
_LEAST: Mapping[str, int] = {"n_batch": 1, "n_seq_max": 1, "n_outputs_max_per_seq": 1}
_MOST: Mapping[str, int] = {"n_threads": ggml.GGML_MAX_N_THREADS, "n_threads_batch": ggml.GGML_MAX_N_THREADS}


def check_choice(name: str, value: Any) -> None:
    """`InvalidArgumentError` for a number that names nothing, or is too small or too large. Other parameters pass."""
    if name in _ENUMERATIONS and value not in set(_ENUMERATIONS[name]):
        known = ", ".join(f"{each.name} ({each.value})" for each in _ENUMERATIONS[name] if not each.name.endswith("_MAX_VALUE"))
        raise InvalidArgumentError(f"{name}={value} is unknown: choose from {known}")
    if name in {"type_k", "type_v"} and value not in _cache_types().values():
        known = ", ".join(f"GGML_TYPE_{each} ({number})" for each, number in _cache_types().items())
        raise InvalidArgumentError(f"{name}={value} cannot hold the cache: choose from {known}")
    if value < _LEAST.get(name, value):
        raise InvalidArgumentError(f"{name}={value} is out of range: at least {_LEAST[name]}")
    if value > _MOST.get(name, value):
        raise InvalidArgumentError(f"{name}={value} is out of range: at most {_MOST[name]}")


def check_overrides(overrides: Mapping[str, Any]) -> None:
    """`InvalidArgumentError` for metadata that native code asserts something about, put in the place of a file's own."""
    for key, value in overrides.items():
        name = key.rpartition(".")[2]
        if name == "block_count" and not 1 <= value <= MOST_LAYERS:
            raise InvalidArgumentError(f"kv_overrides[{key!r}]={value} is out of range: 1 to {MOST_LAYERS}")
        if name.endswith("_epsilon") and not value >= 0:
            raise InvalidArgumentError(f"kv_overrides[{key!r}]={value} must not be negative")
        if name == "expert_count" and value and f"{key[: -len(name)]}expert_used_count" not in overrides:
            raise InvalidArgumentError(f"kv_overrides[{key!r}] needs expert_used_count beside it: how many of them are used at once")
        if key == "tokenizer.ggml.model":
            raise InvalidArgumentError("kv_overrides: tokenizer.ggml.model belongs to the vocabulary in the file and cannot be another one")


def check_cache(model: Model, type_k: int | None) -> None:
    """`InvalidArgumentError` when keys of this model cannot be cut into the blocks of a quantized cache."""
    if type_k is None or not ggml.ggml_is_quantized(type_k):
        return
    block = int(ggml.ggml_blck_size(type_k))
    metadata = model.metadata
    stated = metadata.get(f"{metadata.get('general.architecture')}.attention.key_length", "")
    length = int(stated) if stated.isdigit() else model.n_embd // max(model.n_head, 1)
    if model.n_head and length % block:
        raise InvalidArgumentError(f"type_k={type_k} cannot hold keys of {length} values: it stores them in blocks of {block}")


def _cache_types() -> dict[str, int]:
    return {name: int(getattr(ggml, f"GGML_TYPE_{name}")) for name in _CACHE_TYPES}
