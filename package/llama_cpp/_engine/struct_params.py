"""C structs that a program has filled itself, read back into the dataclasses of `params`.

So a model or context made from a struct takes the same way as any other; what a struct points to is copied.
"""

from __future__ import annotations

import ctypes
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from llama_cpp._native.bindings import llama

from .errors import InvalidArgumentError
from .params import ContextParams, ModelParams

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .params import KvOverride, Progress

_VALUES = {
    llama.LLAMA_KV_OVERRIDE_TYPE_INT: "val_i64",
    llama.LLAMA_KV_OVERRIDE_TYPE_FLOAT: "val_f64",
    llama.LLAMA_KV_OVERRIDE_TYPE_BOOL: "val_bool",
    llama.LLAMA_KV_OVERRIDE_TYPE_STR: "val_str",
}
_POINTERS = ("devices", "tensor_buft_overrides", "tensor_split", "kv_overrides")


def model_params(params: ModelParams | llama.llama_model_params | None) -> ModelParams:
    """The parameters of a model, from a struct or as they are; None stands for llama.cpp's own."""
    if params is None or isinstance(params, ModelParams):
        return params or ModelParams()
    if not isinstance(params, llama.llama_model_params):
        raise TypeError(f"params must be llama_model_params (see llama_model_default_params), not {type(params).__name__}")
    given = {each.name: getattr(params, each.name) for each in fields(ModelParams) if _is_scalar(each.name, params)}
    if params.devices:
        given["devices"] = tuple(device for device in _until_null(params.devices))
    if params.tensor_buft_overrides:
        given["tensor_buft_overrides"] = tuple(_buffers(params))
    if params.tensor_split:
        given["tensor_split"] = tuple(params.tensor_split[: llama.llama_max_devices()])
    if params.kv_overrides:
        given["kv_overrides"] = dict(_overrides(params))
    return ModelParams(**given, progress=_progress(params))


def context_params(params: ContextParams | llama.llama_context_params | None) -> ContextParams:
    """The parameters of a context. An abort callback and samplers in a struct are refused: they are set on the context."""
    if params is None or isinstance(params, ContextParams):
        return params or ContextParams()
    if not isinstance(params, llama.llama_context_params):
        raise TypeError(f"params must be llama_context_params (see llama_context_default_params), not {type(params).__name__}")
    if params.abort_callback:
        raise InvalidArgumentError("abort_callback is not taken from the struct; call set_abort_callback on the context")
    if params.n_samplers:
        raise InvalidArgumentError("samplers are not taken from the struct; call set_sampler on the context")
    if params.cb_eval:
        raise InvalidArgumentError("cb_eval is not served: it would have to be called from Python for every node of the graph")
    return ContextParams(**{each.name: getattr(params, each.name) for each in fields(ContextParams)})


def _is_scalar(name: str, struct: Any) -> bool:
    return name not in _POINTERS and name in dict(type(struct)._fields_)


def _until_null(array: Any) -> Iterator[int]:
    index = 0
    while array[index]:
        yield int(array[index])
        index += 1


def _buffers(params: llama.llama_model_params) -> Iterator[tuple[str, int]]:
    entries: Any = params.tensor_buft_overrides
    index = 0
    while entries[index].pattern is not None:
        yield entries[index].pattern.decode(), int(entries[index].buft or 0)
        index += 1


def _overrides(params: llama.llama_model_params) -> Iterator[tuple[str, KvOverride]]:
    index = 0
    while (entry := params.kv_overrides[index]).key:
        value = getattr(entry, _VALUES[entry.tag])
        yield entry.key.decode(), value.decode() if isinstance(value, bytes) else value
        index += 1


def _progress(params: llama.llama_model_params) -> Progress | None:
    callback: Any = params.progress_callback
    if not callback:
        return None
    data = ctypes.c_void_p(params.progress_callback_user_data)
    return lambda value: bool(callback(value, data))
