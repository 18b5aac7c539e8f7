"""The constructor's arguments: aliases, what is refused, what warns, and what reaches model and context."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import pytest

from llama_cpp._engine.threads import default_batch_threads, default_threads
from llama_cpp._features.errors import FeatureUnavailableError
from llama_cpp._features.llama import arguments
from llama_cpp._features.llama.llama import Llama

PARAMETERS = inspect.signature(Llama.__init__).parameters
KNOWN = tuple(name for name in PARAMETERS if name not in ("self", "unknown"))


def given(**changes: Any) -> dict[str, Any]:
    assert not set(changes) - set(KNOWN)
    return {"model_path": "m.gguf", **{name: PARAMETERS[name].default for name in KNOWN[1:]}, **changes}


def context(**changes: Any) -> Any:
    return arguments.context_params(given(**changes))


def model(**changes: Any) -> Any:
    return arguments.model_params(given(**changes))


def test_every_argument_has_a_place() -> None:
    carried = {*arguments.MODEL_NAMES, *arguments.CONTEXT_NAMES}
    settled = {*arguments.UNAVAILABLE, *arguments.DORMANT}
    elsewhere = {
        "model_path", "n_gpu_layers", "load_mode", "use_mmap", "use_mlock", "use_direct_io", "kv_overrides", "seed", "n_threads",
        "n_threads_batch", "flash_attn", "flash_attn_type", "embedding", "embeddings", "logits_all", "last_n_tokens_size", "chat_format",
        "chat_template_name", "chat_handler_kwargs", "tokenizer", "spm_infill", "verbose", "verbosity", "log_filters",
        "log_filters_case_sensitive", "lora_path", "lora_scale", "numa", "rpc_servers", "ctx_checkpoints", "checkpoint_interval",
        "checkpoint_on_device", "chat_handler", "chat_template_kwargs",
    }  # fmt: skip
    assert set(KNOWN) == carried | settled | elsewhere
    assert not carried & settled


def test_defaults_of_the_context() -> None:
    made = context()
    assert (made.n_ctx, made.n_batch, made.n_ubatch, made.flash_attn_type, made.embeddings) == (512, 2048, 512, -1, False)
    assert (made.n_threads, made.n_threads_batch) == (default_threads(), default_batch_threads())


@pytest.mark.parametrize(
    ("value", "layers"),
    [("auto", -1), ("all", -2), ("ALL", -2), (0, 0), (-1, -1), ("12", 12), (7, 7)],
)
def test_gpu_layers(value: Any, layers: int) -> None:
    assert model(n_gpu_layers=value).n_gpu_layers == layers


def test_gpu_layers_of_the_wrong_kind() -> None:
    with pytest.raises(ValueError, match="n_gpu_layers"):
        model(n_gpu_layers="some")


@pytest.mark.parametrize(
    ("changes", "mode"),
    [
        ({}, -1),
        ({"use_mmap": True}, 1),
        ({"use_mmap": False}, 0),
        ({"use_mlock": True}, 3),
        ({"use_mlock": True, "use_mmap": False}, 2),
        ({"use_direct_io": True}, 4),
        ({"use_mmap": False, "load_mode": 1}, 1),
    ],
)
def test_older_switches_choose_the_load_mode(changes: dict[str, Any], mode: int) -> None:
    assert model(**changes).load_mode == mode


@pytest.mark.parametrize(
    ("changes", "kind"),
    [({}, -1), ({"flash_attn": True}, 1), ({"flash_attn": False}, 0), ({"flash_attn_type": 0}, 0)],
)
def test_flash_attention(changes: dict[str, Any], kind: int) -> None:
    assert context(**changes).flash_attn_type == kind


@pytest.mark.parametrize("name", ["embedding", "embeddings"])
def test_both_spellings_of_embeddings(name: str) -> None:
    assert context(**{name: True}).embeddings is True


def test_too_many_sequences() -> None:
    with pytest.raises(RuntimeError, match="n_seq_max"):
        context(n_seq_max=257)


def test_overrides_are_copied_and_checked() -> None:
    overrides = {"general.name": "x"}
    made = model(kv_overrides=overrides)
    overrides["general.name"] = "y"
    assert made.kv_overrides == {"general.name": "x"}
    with pytest.raises(ValueError, match="kv_overrides"):
        model(kv_overrides=[1])


@pytest.mark.parametrize("name", sorted(arguments.UNAVAILABLE))
def test_what_is_not_served_is_refused_by_name(name: str) -> None:
    with pytest.raises(FeatureUnavailableError, match=name):
        arguments.check_availability({name: "something"})


def test_draft_model_and_speculative_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="exclude"):
        arguments.check_availability({"draft_model": 1, "speculative": 1})


def warned(changes: dict[str, Any] | None = None, **unknown: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        arguments.warn_about(given(**(changes or {})), unknown, KNOWN)
    return [str(each.message) for each in caught]


def test_an_unknown_argument_warns_and_names_the_nearest() -> None:
    (message,) = warned(vebose=False)
    assert "'vebose'" in message
    assert "'verbose'" in message


def test_an_argument_like_no_other_names_none() -> None:
    (message,) = warned(zzzzqqqq=1)
    assert "did you mean" not in message


def test_what_langchain_always_passes_is_silent() -> None:
    assert warned(n_parts=-1, f16_kv=True) == []


def test_retired_arguments_say_what_replaced_them() -> None:
    (message,) = warned(f16_kv=False)
    assert "type_k" in message


def test_stored_arguments_that_nothing_uses_warn_when_changed() -> None:
    (message,) = warned({"n_keep": 10})
    assert "n_keep" in message


def test_nothing_warns_by_default() -> None:
    assert warned() == []


def test_yarn_is_the_models_unless_the_caller_says_otherwise() -> None:
    plain, chosen = context(), context(yarn_attn_factor=0.5, yarn_beta_fast=16.0, yarn_beta_slow=2.0)
    assert (plain.yarn_attn_factor, plain.yarn_beta_fast, plain.yarn_beta_slow) == (None, None, None)
    assert (chosen.yarn_attn_factor, chosen.yarn_beta_fast, chosen.yarn_beta_slow) == (0.5, 16.0, 2.0)
