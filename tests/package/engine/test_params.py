from __future__ import annotations

import ctypes
from dataclasses import FrozenInstanceError, fields
from typing import TYPE_CHECKING, Any

import pytest

from llama_cpp._engine.errors import InvalidArgumentError
from llama_cpp._engine.params import ContextParams, ModelParams, _expert_overrides, native_context_params, native_model_params
from llama_cpp._native.bindings import ggml_backend, llama

if TYPE_CHECKING:
    from tests.package.engine.fakes import FakeLlama

CPU_BUFFER = 4242


@pytest.fixture(autouse=True)
def devices(native: FakeLlama, monkeypatch: pytest.MonkeyPatch) -> None:
    native.replace("llama_max_devices", lambda: 4)
    monkeypatch.setattr(ggml_backend, "ggml_backend_cpu_buffer_type", lambda: CPU_BUFFER)
    monkeypatch.setattr(ggml_backend, "ggml_backend_dev_by_name", {b"CPU": 11, b"CUDA0": 12}.get)
    monkeypatch.setattr(ggml_backend, "ggml_backend_dev_buffer_type", lambda device: device * 100)


def model_struct(**params: Any) -> Any:
    """The C struct, kept with what it points to."""
    native = native_model_params(ModelParams(**params))
    native.struct.keep = native.keep
    return native.struct


def test_every_c_field_can_be_set() -> None:
    by_pointer = {"progress_callback_user_data"}
    renamed = {"progress_callback": "progress"}
    c_fields = {name for name, _ in llama.llama_model_params._fields_} - by_pointer
    ours = {each.name for each in fields(ModelParams)}
    assert {renamed.get(name, name) for name in c_fields} == ours - {"cpu_moe", "n_cpu_moe"}
    owned_by_the_context = {
        "abort_callback", "abort_callback_data", "cb_eval", "cb_eval_user_data", "samplers", "n_samplers",
    }  # fmt: skip
    c_fields = {name for name, _ in llama.llama_context_params._fields_} - owned_by_the_context
    assert c_fields == {each.name for each in fields(ContextParams)}


def test_parameters_are_frozen_and_keyword_only() -> None:
    with pytest.raises(FrozenInstanceError):
        ModelParams().main_gpu = 1
    with pytest.raises(TypeError):
        ContextParams(512)


def test_what_is_not_given_keeps_the_native_default() -> None:
    assert model_struct().n_gpu_layers == -1
    assert model_struct(n_gpu_layers=3, vocab_only=True).n_gpu_layers == 3
    struct = native_context_params(ContextParams(n_batch=16, rope_freq_base=1.5, swa_full=False))
    assert (struct.n_ctx, struct.n_batch, struct.rope_freq_base, struct.swa_full) == (512, 16, 1.5, False)


@pytest.mark.parametrize("params", [{"n_ctx": -1}, {"n_batch": 2**32}, {"n_threads": 2**31}, {"type_k": -(2**40)}])
def test_integers_that_would_wrap_are_refused(params: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=next(iter(params))):
        native_context_params(ContextParams(**params))


def test_tensor_split_is_padded_to_what_c_reads() -> None:
    struct = model_struct(tensor_split=[0.5, 0.25])
    assert struct.tensor_split[:4] == [0.5, 0.25, 0.0, 0.0]
    assert len(struct.keep[0]) == 4
    with pytest.raises(InvalidArgumentError, match="at most 4"):
        model_struct(tensor_split=[1.0] * 5)


def test_kv_overrides_of_every_type_end_with_an_empty_key() -> None:
    values = {"a.bool": True, "an.int": 2**40, "a.float": 0.5, "a.text": "käse"}
    entries = model_struct(kv_overrides=values).kv_overrides
    assert [(entries[i].key.decode(), entries[i].tag) for i in range(5)] == [
        ("a.bool", llama.LLAMA_KV_OVERRIDE_TYPE_BOOL),
        ("an.int", llama.LLAMA_KV_OVERRIDE_TYPE_INT),
        ("a.float", llama.LLAMA_KV_OVERRIDE_TYPE_FLOAT),
        ("a.text", llama.LLAMA_KV_OVERRIDE_TYPE_STR),
        ("", 0),
    ]
    assert entries[0].val_bool is True
    assert entries[1].val_i64 == 2**40
    assert entries[2].val_f64 == 0.5
    assert entries[3].val_str.decode() == "käse"


@pytest.mark.parametrize("overrides", [{"k" * 128: 1}, {"": 1}, {"k": "x" * 128}, {"k\0": 1}, {"k": None}, {"k": [1]}])
def test_kv_overrides_that_c_cannot_hold_are_refused(overrides: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="kv_overrides"):
        model_struct(kv_overrides=overrides)


def buffer_overrides(struct: Any) -> Any:
    entries, found = struct.tensor_buft_overrides, []
    while entries[len(found)].pattern:
        found.append((entries[len(found)].pattern.decode(), entries[len(found)].buft))
    return found


def test_expert_tensors_stay_on_the_cpu() -> None:
    (pattern,) = buffer_overrides(model_struct(cpu_moe=True))
    assert pattern == (r"\.ffn_(up|down|gate|gate_up)_(ch|)exps", CPU_BUFFER)
    layers = buffer_overrides(model_struct(n_cpu_moe=2))
    assert [text.split(r"\.")[1] for text, _ in layers] == ["0", "1"]
    assert not model_struct().tensor_buft_overrides


def test_the_callers_overrides_come_first() -> None:
    found = buffer_overrides(model_struct(tensor_buft_overrides=[("a", 7), ("b", "CUDA0")], cpu_moe=True))
    assert [buffer for _, buffer in found] == [7, 1200, CPU_BUFFER]


def test_devices_by_name_or_address_end_with_null() -> None:
    assert model_struct(devices=["CUDA0", 99]).devices[:3] == [12, 99, None]
    with pytest.raises(InvalidArgumentError, match="no device named 'TPU'"):
        model_struct(devices=["TPU"])


def test_progress_stops_on_false_only() -> None:
    seen = []
    native = native_model_params(ModelParams(progress=seen.append))
    assert native.struct.progress_callback(0.5, None) is True
    assert seen == [0.5]
    native = native_model_params(ModelParams(progress=lambda value: value < 0.5))
    assert [native.struct.progress_callback(value, None) for value in (0.1, 0.6, 0.2)] == [True, False, False]
    assert native.progress.stopped


def test_an_exception_in_progress_is_kept() -> None:
    def fail(_value: Any) -> None:
        raise KeyError("mine")

    native = native_model_params(ModelParams(progress=fail))
    assert native.struct.progress_callback(0.5, None) is False
    assert isinstance(native.progress.error, KeyError)


def test_pointers_are_kept_alive() -> None:
    native = native_model_params(ModelParams(tensor_split=[1.0], kv_overrides={"a": 1}, devices=["CPU"], cpu_moe=True))
    addresses = {ctypes.addressof(each) for each in native.keep}
    for name in ("tensor_split", "kv_overrides", "devices", "tensor_buft_overrides"):
        assert ctypes.addressof(getattr(native.struct, name).contents) in addresses


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_without_end(value: float) -> None:
    with pytest.raises(InvalidArgumentError, match="rope_freq_base must be finite"):
        native_context_params(ContextParams(rope_freq_base=value))


@pytest.mark.parametrize("split", [[-1.0, 2.0], [float("nan")], [float("inf")]])
def test_parts_that_are_none(split: list[float]) -> None:
    with pytest.raises(InvalidArgumentError, match="tensor_split"):
        native_model_params(ModelParams(tensor_split=split))


def test_without_weights_nothing_is_mapped() -> None:
    assert (
        native_model_params(ModelParams(no_alloc=True, load_mode=llama.LLAMA_LOAD_MODE_AUTO)).struct.load_mode == llama.LLAMA_LOAD_MODE_NONE
    )
    for mode in (llama.LLAMA_LOAD_MODE_MMAP, llama.LLAMA_LOAD_MODE_MLOCK, llama.LLAMA_LOAD_MODE_MMAP_MLOCK):
        with pytest.raises(InvalidArgumentError, match="exclude each other"):
            native_model_params(ModelParams(no_alloc=True, load_mode=mode))


def test_more_layers_than_there_can_be() -> None:
    assert len(_expert_overrides(ModelParams(n_cpu_moe=2**31))) == 512


def test_an_override_of_more_than_64_bits() -> None:
    native_model_params(ModelParams(kv_overrides={"a": 2**63 - 1, "b": -(2**63)}))
    with pytest.raises(InvalidArgumentError, match="64 bits"):
        native_model_params(ModelParams(kv_overrides={"a": 2**63}))
