"""Model and context parameters as frozen dataclasses, and their one conversion to C structs.

A field left None keeps llama.cpp's own default. Policy (how many threads, which context size) is the caller's.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from llama_cpp._native.bindings import ggml_backend, llama

from .choices import MOST_LAYERS, check_choice, check_overrides
from .errors import InvalidArgumentError

KvOverride = bool | int | float | str
Progress = Callable[[float], "bool | None"]

_NUMBERS = (ctypes.c_int32, ctypes.c_uint32, ctypes.c_int)
_TEXT_LIMIT = 127  # llama_model_kv_override holds keys and texts in char[128]
_EXPERT_TENSORS = r"ffn_(up|down|gate|gate_up)_(ch|)exps"


@dataclass(frozen=True, kw_only=True)
class ModelParams:
    """How a model is loaded: `llama_model_params`.

    `devices` are device names or addresses; `tensor_buft_overrides` pairs of a tensor-name regex and a buffer
    type (address, or a device name for that device's default). `cpu_moe` keeps all expert tensors on the CPU,
    `n_cpu_moe` those of the first layers. `progress` gets 0.0 to 1.0 and stops the load by returning False.
    """

    devices: Sequence[str | int] | None = None
    tensor_buft_overrides: Sequence[tuple[str, str | int]] = ()
    cpu_moe: bool = False
    n_cpu_moe: int = 0
    n_gpu_layers: int | None = None
    split_mode: int | None = None
    load_mode: int | None = None
    lazy_mode: int | None = None
    main_gpu: int | None = None
    tensor_split: Sequence[float] | None = None
    progress: Progress | None = None
    kv_overrides: Mapping[str, KvOverride] = field(default_factory=dict)
    vocab_only: bool | None = None
    check_tensors: bool | None = None
    use_extra_bufts: bool | None = None
    no_host: bool | None = None
    no_alloc: bool | None = None
    load_mtp: bool | None = None


@dataclass(frozen=True, kw_only=True)
class ContextParams:
    """How a context is made: `llama_context_params`, field by field.

    Abort callback and backend samplers are set by `Context`, which owns what they point to; `ctx_other` is the
    address of a live context.
    """

    n_ctx: int | None = None
    n_batch: int | None = None
    n_ubatch: int | None = None
    n_seq_max: int | None = None
    n_rs_seq: int | None = None
    n_outputs_max: int | None = None
    n_outputs_max_per_seq: int | None = None
    n_threads: int | None = None
    n_threads_batch: int | None = None
    ctx_type: int | None = None
    rope_scaling_type: int | None = None
    pooling_type: int | None = None
    attention_type: int | None = None
    flash_attn_type: int | None = None
    rope_freq_base: float | None = None
    rope_freq_scale: float | None = None
    yarn_ext_factor: float | None = None
    yarn_attn_factor: float | None = None
    yarn_beta_fast: float | None = None
    yarn_beta_slow: float | None = None
    yarn_orig_ctx: int | None = None
    defrag_thold: float | None = None
    type_k: int | None = None
    type_v: int | None = None
    embeddings: bool | None = None
    offload_kqv: bool | None = None
    no_perf: bool | None = None
    op_offload: bool | None = None
    swa_full: bool | None = None
    kv_unified: bool | None = None
    ctx_other: int | None = None


class ProgressRelay:
    """Carries a Python progress callback into C; an exception in it stops the load and is kept in `error`."""

    def __init__(self, progress: Progress) -> None:
        self.error: BaseException | None = None
        self.stopped = False
        self._progress = progress
        self.callback = llama.llama_progress_callback(self._call)

    def _call(self, value: float, _user_data: object) -> bool:
        try:
            self.stopped = self.stopped or self._progress(value) is False
        except BaseException as error:  # noqa: BLE001 - kept, and raised again once C has returned
            self.error, self.stopped = error, True
        return not self.stopped


@dataclass(frozen=True, kw_only=True)
class NativeModelParams:
    """A filled `llama_model_params`, with what it points to. `keep` has to live as long as the model."""

    struct: Any
    keep: tuple[object, ...]
    progress: ProgressRelay | None


def native_model_params(params: ModelParams) -> NativeModelParams:
    """Convert; raises `InvalidArgumentError` for values that the C side cannot hold."""
    struct = llama.llama_model_default_params()
    _copy_scalars(
        params, struct, leave=("devices", "tensor_buft_overrides", "cpu_moe", "n_cpu_moe", "tensor_split", "progress", "kv_overrides")
    )
    if params.no_alloc:
        _load_nothing(struct)
    keep: list[object] = []
    if params.tensor_split:
        keep.append(_point(struct, "tensor_split", _tensor_split(params.tensor_split)))
    if params.devices:
        keep.append(_point(struct, "devices", _devices(params.devices)))
    if params.kv_overrides:
        keep.append(_point(struct, "kv_overrides", _kv_overrides(params.kv_overrides)))
    buffers = [*params.tensor_buft_overrides, *_expert_overrides(params)]
    if buffers:
        keep.append(_point(struct, "tensor_buft_overrides", _buffer_overrides(buffers)))
    relay = ProgressRelay(params.progress) if params.progress else None
    if relay:
        struct.progress_callback = relay.callback
        keep.append(relay)
    return NativeModelParams(struct=struct, keep=tuple(keep), progress=relay)


def _load_nothing(struct: Any) -> None:
    """Without memory for the weights a file can be neither mapped nor locked."""
    if struct.load_mode in {llama.LLAMA_LOAD_MODE_MMAP, llama.LLAMA_LOAD_MODE_MLOCK, llama.LLAMA_LOAD_MODE_MMAP_MLOCK}:
        raise InvalidArgumentError(f"no_alloc=True and load_mode={struct.load_mode} exclude each other: there is nothing to map or to lock")
    if struct.load_mode == llama.LLAMA_LOAD_MODE_AUTO:
        struct.load_mode = llama.LLAMA_LOAD_MODE_NONE


def native_context_params(params: ContextParams) -> Any:
    """Convert to `llama_context_params`; raises `InvalidArgumentError` for values out of range."""
    struct = llama.llama_context_default_params()
    _copy_scalars(params, struct, leave=())
    return struct


def _copy_scalars(params: Any, struct: Any, leave: tuple[str, ...]) -> None:
    kinds = dict(type(struct)._fields_)
    for each in fields(params):
        value = getattr(params, each.name)
        if each.name in leave or value is None:
            continue
        _check_range(each.name, kinds[each.name], value)
        if kinds[each.name] in _NUMBERS:
            check_choice(each.name, value)
        elif kinds[each.name] is ctypes.c_float and not math.isfinite(value):
            raise InvalidArgumentError(f"{each.name} must be finite, not {value}")
        setattr(struct, each.name, value)


def _check_range(name: str, kind: Any, value: Any) -> None:
    """Refuse what ctypes would wrap silently: a size of -1 would become a context of four billion tokens."""
    if kind in (ctypes.c_uint32, ctypes.c_int32) and not isinstance(value, float):
        low, high = (0, 2**32 - 1) if kind is ctypes.c_uint32 else (-(2**31), 2**31 - 1)
        if not low <= int(value) <= high:
            raise InvalidArgumentError(f"{name}={value} is out of range: {low} to {high}")


def _point(struct: Any, name: str, target: Any) -> Any:
    """Make pointer field `name` point to the array `target`, which the caller keeps alive; returns `target`."""
    setattr(struct, name, ctypes.cast(target, dict(type(struct)._fields_)[name]))
    return target


def _tensor_split(split: Sequence[float]) -> Any:
    limit = llama.llama_max_devices()  # C reads exactly this many
    if len(split) > limit:
        raise InvalidArgumentError(f"tensor_split has {len(split)} entries; at most {limit} devices are supported")
    if not all(math.isfinite(part) and part >= 0 for part in split):
        raise InvalidArgumentError(f"tensor_split must hold parts of 0 or more, not {list(split)}")
    return (ctypes.c_float * limit)(*split)


def _device(chosen: str | int) -> ggml_backend.ggml_backend_dev_t:
    if isinstance(chosen, int):
        return ggml_backend.ggml_backend_dev_t(chosen)
    device = ggml_backend.ggml_backend_dev_by_name(chosen.encode())
    if not device:
        raise InvalidArgumentError(f"no device named {chosen!r}; `python -m llama_cpp` lists them")
    return device


def _devices(chosen: Sequence[str | int]) -> Any:
    return (ctypes.c_void_p * (len(chosen) + 1))(*map(_device, chosen), None)


def _kv_overrides(overrides: Mapping[str, KvOverride]) -> Any:
    check_overrides(overrides)
    array = (llama.llama_model_kv_override * (len(overrides) + 1))()  # an empty key ends the list
    for entry, (key, value) in zip(array, overrides.items(), strict=False):
        entry.key = _short_text(key, "key")
        if isinstance(value, bool):
            entry.tag, entry.val_bool = llama.LLAMA_KV_OVERRIDE_TYPE_BOOL, value
        elif isinstance(value, int):
            if not -(2**63) <= value < 2**63:
                raise InvalidArgumentError(f"kv_overrides[{key!r}]={value} does not fit 64 bits")
            entry.tag, entry.val_i64 = llama.LLAMA_KV_OVERRIDE_TYPE_INT, value
        elif isinstance(value, float):
            entry.tag, entry.val_f64 = llama.LLAMA_KV_OVERRIDE_TYPE_FLOAT, value
        elif isinstance(value, str):
            entry.tag, entry.val_str = llama.LLAMA_KV_OVERRIDE_TYPE_STR, _short_text(value, key)
        else:
            raise InvalidArgumentError(f"kv_overrides[{key!r}] is a {type(value).__name__}; use bool, int, float or str")
    return array


def _short_text(text: str, what: str) -> bytes:
    data = text.encode()
    if not data or len(data) > _TEXT_LIMIT or b"\0" in data:
        raise InvalidArgumentError(f"kv_overrides: {what} {text!r} must be 1 to {_TEXT_LIMIT} bytes without NUL")
    return data


def _expert_overrides(params: ModelParams) -> list[tuple[str, str | int]]:
    if not params.cpu_moe and params.n_cpu_moe <= 0:
        return []
    cpu = ggml_backend.ggml_backend_cpu_buffer_type() or 0
    if params.cpu_moe:
        return [(rf"\.{_EXPERT_TENSORS}", cpu)]
    return [(rf"blk\.{layer}\.{_EXPERT_TENSORS}", cpu) for layer in range(min(params.n_cpu_moe, MOST_LAYERS))]


def _buffer_overrides(overrides: Sequence[tuple[str, str | int]]) -> Any:
    array = (llama.llama_model_tensor_buft_override * (len(overrides) + 1))()  # a null pattern ends the list
    for index, (pattern, chosen) in enumerate(overrides):
        buffer_type = chosen if isinstance(chosen, int) else ggml_backend.ggml_backend_dev_buffer_type(_device(chosen))
        # assigned as a whole, so that the array itself keeps the pattern's bytes alive
        array[index] = llama.llama_model_tensor_buft_override(pattern.encode(), buffer_type)
    return array
