"""Pickling keeps every constructor argument: a property over the signature, without a model."""

from __future__ import annotations

import inspect
import pickle
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llama_cpp._features.llama import llama as module
from llama_cpp._features.llama.embedding import LlamaEmbedding
from llama_cpp._features.llama.llama import Llama

if TYPE_CHECKING:
    from collections.abc import Iterator

PARAMETERS = {
    name: each
    for name, each in inspect.signature(Llama.__init__).parameters.items()
    if name != "self" and each.kind is not each.VAR_KEYWORD
}
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.floats(allow_nan=False), st.text(max_size=5), st.lists(st.integers(), max_size=3)
)


@pytest.fixture(scope="module", autouse=True)
def _without_models() -> Iterator[None]:
    """Everything that a constructor does with its arguments is left out, but for keeping them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("check_availability", "warn_about", "numa_strategy"):
            patch.setattr(module.arguments, name, lambda *_: None)
        for name in ("model_params", "context_params"):
            patch.setattr(module.arguments, name, lambda _: SimpleNamespace(n_gpu_layers=0))
        for name in ("add_servers", "endpoints", "use_numa", "seed_value", "checkpoint_settings"):
            patch.setattr(module, name, lambda *_, **__: None)
        patch.setattr(module.offload, "warn_without_gpu", lambda *_, **__: None)
        patch.setattr(module, "Runtime", lambda *_, **__: SimpleNamespace(closed=True, close=lambda: None))
        for name in ("_configure_logging", "_show", "_load_default_lora"):
            patch.setattr(Llama, name, lambda *_: None)
        yield


@pytest.mark.parametrize("kind", [Llama, LlamaEmbedding])
@given(chosen=st.dictionaries(st.sampled_from(sorted(set(PARAMETERS) - {"model_path"})), VALUES))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_argument_survives(kind: type[Llama], chosen: dict[str, Any]) -> None:
    made = kind("model.gguf", **chosen, an_unknown_one=7)
    again = pickle.loads(pickle.dumps(made))  # noqa: S301 - its own
    assert type(again) is kind
    state = again.__getstate__()
    assert state == made.__getstate__()
    assert set(state) == {*PARAMETERS, "an_unknown_one"}
    forced = {"embeddings", "kv_unified"} if kind is LlamaEmbedding else set()
    assert {name: state[name] for name in chosen if name not in forced} == {name: chosen[name] for name in chosen if name not in forced}


def test_what_is_left_alone_is_kept_as_the_default() -> None:
    state = Llama("model.gguf").__getstate__()
    assert state == {"model_path": "model.gguf", **{name: each.default for name, each in PARAMETERS.items() if name != "model_path"}}
