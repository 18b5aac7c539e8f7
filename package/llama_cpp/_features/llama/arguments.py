"""The constructor's keyword arguments: both lineages' names, and what each of them comes to.

Every argument is carried to the model or the context, used by `Llama` itself, or refused; what has no effect (any
more, or yet) says so in a warning. Nothing is dropped in silence.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from llama_cpp._engine.params import ContextParams, ModelParams
from llama_cpp._engine.threads import default_batch_threads, default_threads
from llama_cpp._features.errors import FeatureUnavailableError

_MAX_SEQUENCES = 256  # LLAMA_MAX_SEQ
_NUMA_STRATEGIES = 5  # GGML_NUMA_STRATEGY_COUNT

MODEL_NAMES = (
    "split_mode", "lazy_mode", "main_gpu", "tensor_split", "vocab_only", "check_tensors", "use_extra_bufts", "no_host",
    "no_alloc", "load_mtp", "cpu_moe", "n_cpu_moe",
)  # fmt: skip
"""Arguments that are fields of `ModelParams` as they stand."""

CONTEXT_NAMES = (
    "n_ctx", "n_batch", "n_ubatch", "n_seq_max", "n_rs_seq", "n_outputs_max", "n_outputs_max_per_seq", "ctx_type",
    "rope_scaling_type", "pooling_type", "attention_type", "rope_freq_base", "rope_freq_scale", "yarn_ext_factor",
    "yarn_attn_factor", "yarn_beta_fast", "yarn_beta_slow", "yarn_orig_ctx", "type_k", "type_v", "offload_kqv", "no_perf",
    "op_offload", "swa_full", "kv_unified",
)  # fmt: skip
"""Arguments that are fields of `ContextParams` as they stand."""

UNAVAILABLE: Mapping[str, object] = {
    "draft_model": None,
    "mmproj_path": None,
    "speculative": None,
}
"""Arguments that ask for what is not served yet, with the value that does not ask."""

DORMANT: Mapping[str, tuple[object, str]] = {
    "lora_base": (None, "adapters are applied to the model as it is loaded"),
    "n_keep": (256, "a full context ends the completion, and nothing is shifted out of it"),
}
"""Arguments that are stored and change nothing: their defaults, and why. Other values warn."""

RETIRED: Mapping[str, tuple[tuple[object, ...], str]] = {
    "f16_kv": ((True, None), "choose the cache types with type_k and type_v"),
    "low_vram": ((False, None), "use offload_kqv=False"),
    "memory_f16": ((True, None), "choose the cache types with type_k and type_v"),
    "mul_mat_q": ((True, None), "llama.cpp decides by itself"),
    "n_gqa": ((None,), "the model file says it"),
    "n_parts": ((-1, None), "split models are recognised by their file name"),
    "rms_norm_eps": ((None,), "the model file says it"),
}
"""Keywords of former versions that programs still pass: their harmless values, and what replaced them."""


YARN_DEFAULTS: Mapping[str, float] = {"yarn_attn_factor": 1.0, "yarn_beta_fast": 32.0, "yarn_beta_slow": 1.0}
"""Defaults of the published signatures, from when they were llama.cpp's own. It has the model's values by default now, so
these numbers stand for that."""


def check_availability(given: Mapping[str, Any]) -> None:
    """Refuse what is not served yet, by name."""
    if given.get("draft_model") is not None and given.get("speculative") is not None:
        raise ValueError("draft_model and speculative exclude each other; give one of them")
    for name, off in UNAVAILABLE.items():
        if given.get(name, off) not in (off, "", [], ()):
            raise FeatureUnavailableError(f"{name} is not available in this version; leave it out")


def warn_about(given: Mapping[str, Any], unknown: Mapping[str, Any], known: Sequence[str]) -> None:
    """One warning for each argument that has no effect; for an unknown one it names the nearest known."""
    for name, (default, why) in DORMANT.items():
        if given.get(name, default) != default:
            _warn(f"{name}={given[name]!r} has no effect: {why}")
    for name, value in unknown.items():
        harmless, instead = RETIRED.get(name, ((), ""))
        if name not in RETIRED:
            _warn(f"unknown argument {name!r} is ignored{_suggestion(name, known)}")
        elif value not in harmless:
            _warn(f"{name}={value!r} has no effect any more: {instead}")


def _suggestion(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - slow to import, and rarely needed

    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""


def _warn(message: str) -> None:
    warnings.warn(f"Llama: {message}", UserWarning, stacklevel=4)


def model_params(given: Mapping[str, Any]) -> ModelParams:
    """How to load the model. Raises ValueError for values that make no sense."""
    fields = {name: given[name] for name in MODEL_NAMES}
    fields["n_gpu_layers"] = _gpu_layers(given["n_gpu_layers"])
    fields["load_mode"] = _load_mode(given)
    overrides = given["kv_overrides"]
    if overrides is not None and not isinstance(overrides, Mapping):
        raise ValueError(f"kv_overrides must be a dict, not {type(overrides).__name__}")
    fields["kv_overrides"] = dict(overrides or {})
    if fields["tensor_split"] is not None:
        fields["tensor_split"] = tuple(float(part) for part in fields["tensor_split"])
    return ModelParams(**fields)


def context_params(given: Mapping[str, Any]) -> ContextParams:
    """How to make the context: threads are the physical cores where the caller leaves them open."""
    fields = {name: given[name] for name in CONTEXT_NAMES}
    fields.update((name, None) for name, default in YARN_DEFAULTS.items() if fields[name] == default)
    if not 1 <= fields["n_seq_max"] <= _MAX_SEQUENCES:
        raise RuntimeError(f"n_seq_max must be 1 to {_MAX_SEQUENCES}, not {fields['n_seq_max']}")
    fields["n_threads"] = _threads(given["n_threads"]) or default_threads()
    fields["n_threads_batch"] = _threads(given["n_threads_batch"]) or default_batch_threads()
    fields["embeddings"] = bool(given["embeddings"] or given["embedding"])
    fields["flash_attn_type"] = given["flash_attn_type"] if given["flash_attn"] is None else int(bool(given["flash_attn"]))
    return ContextParams(**fields)


def numa_strategy(value: object) -> int:
    """`numa` as `ggml_numa_strategy`: False is none, True spreads the work over all nodes."""
    if not hasattr(value, "__index__") or not 0 <= int(value.__index__()) < _NUMA_STRATEGIES:
        raise ValueError(f"numa must be False, True or 0 to {_NUMA_STRATEGIES - 1} (ggml_numa_strategy), not {value!r}")
    return int(value.__index__())


def _threads(value: int | None) -> int:
    """A number of threads; 0 for None and for what llama.cpp's programs take for "all that make sense" (-1)."""
    return max(value or 0, 0)


def _gpu_layers(value: object) -> int:
    named = {"auto": -1, "all": -2}
    text = str(value).strip().lower()
    if text in named:
        return named[text]
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"n_gpu_layers must be an integer, 'auto' or 'all', not {value!r}") from None


def _load_mode(given: Mapping[str, Any]) -> int:
    """`load_mode` decides; left on automatic, the older switches choose one where they were given."""
    automatic, none, mmap, mlock, mmap_mlock, direct_io = range(-1, 5)
    chosen = int(given["load_mode"])
    if chosen != automatic:
        return chosen
    if given["use_direct_io"]:
        return direct_io
    if given["use_mlock"]:
        return mlock if given["use_mmap"] is False else mmap_mlock
    if given["use_mmap"] is False:
        return none
    return mmap if given["use_mmap"] else automatic
