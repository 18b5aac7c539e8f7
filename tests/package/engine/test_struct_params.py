from __future__ import annotations

import ctypes
from dataclasses import fields
from typing import Any

import pytest

from llama_cpp._engine import params as params_module
from llama_cpp._engine.errors import InvalidArgumentError
from llama_cpp._engine.params import ContextParams, ModelParams, native_context_params, native_model_params
from llama_cpp._engine.struct_params import context_params, model_params
from llama_cpp._native.bindings import llama


@pytest.fixture(autouse=True)
def _defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llama, "llama_model_default_params", llama.llama_model_params)
    monkeypatch.setattr(llama, "llama_context_default_params", lambda: llama.llama_context_params(n_batch=8, n_seq_max=1))
    monkeypatch.setattr(llama, "llama_max_devices", lambda: 4)
    monkeypatch.setattr(params_module.ggml_backend, "ggml_backend_dev_by_name", lambda _: None)


def test_a_model_comes_back_as_it_was() -> None:
    heard: list[float] = []
    given = ModelParams(
        devices=(11, 22), tensor_buft_overrides=(("blk", 33), ("out", 44)), n_gpu_layers=5, split_mode=1, load_mode=4, lazy_mode=1,
        main_gpu=1, tensor_split=(0.5, 0.25, 0.0, 0.25), kv_overrides={"a": True, "b": 5, "c": 0.5, "d": "text"}, vocab_only=True,
        check_tensors=True, use_extra_bufts=True, no_host=True, no_alloc=True, load_mtp=True, progress=heard.append,
    )  # fmt: skip
    native = native_model_params(given)
    back = model_params(native.struct)
    for each in fields(ModelParams):
        if each.name != "progress":
            assert getattr(back, each.name) == getattr(given, each.name), each.name
    assert back.progress is not None
    assert back.progress(0.5)
    assert heard == [0.5]


def test_a_context_comes_back_as_it_was() -> None:
    given: dict[str, Any] = {}
    for number, each in enumerate(fields(ContextParams), start=1):
        kind = dict(llama.llama_context_params._fields_)[each.name]
        given[each.name] = True if kind is ctypes.c_bool else number
    given |= {"ctx_type": 1, "rope_scaling_type": 2, "pooling_type": 3, "attention_type": 1, "flash_attn_type": 1, "type_k": 8, "type_v": 1}
    assert context_params(native_context_params(ContextParams(**given))) == ContextParams(**given)


def test_what_is_no_struct() -> None:
    assert model_params(None) == ModelParams()
    assert model_params(ModelParams(main_gpu=3)).main_gpu == 3
    assert context_params(None) == ContextParams()
    for convert in (model_params, context_params):
        with pytest.raises(TypeError, match="params must be"):
            convert({"n_ctx": 5})


@pytest.mark.parametrize(
    ("name", "value"),
    [("abort_callback", llama.ggml_abort_callback(bool) if hasattr(llama, "ggml_abort_callback") else None), ("n_samplers", 2)],
)
def test_what_has_to_be_set_on_the_context(name: str, value: Any) -> None:
    struct = llama.llama_context_params()
    if value is None:
        value = dict(llama.llama_context_params._fields_)[name](lambda _: False)
    setattr(struct, name, value)
    with pytest.raises(InvalidArgumentError, match=name.removeprefix("n_")):
        context_params(struct)
