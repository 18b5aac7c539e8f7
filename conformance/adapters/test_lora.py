"""LoRA adapters and control vectors: in force where a request names them, and nowhere else."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rig import material
from rig.generation import GREEDY, PROMPT, text

from llama_cpp import Llama

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def model(synthetic: Llama) -> Iterator[Llama]:
    synthetic.load_lora("a", material.model(material.SYNTH_LORA))
    yield synthetic
    synthetic.unload_all_loras()


def said(model: Llama, **options: Any) -> str:
    return text(model.create_completion(PROMPT, max_tokens=12, **GREEDY, **options))


def test_a_request_that_names_an_adapter_gets_it(model: Llama) -> None:
    plain = said(model)
    changed = said(model, active_loras=["a"])
    assert changed != plain
    assert said(model) == plain
    for form in ({"a": 1.0}, [("a", 1.0)], [{"name": "a", "scale": 1.0}]):
        assert said(model, active_loras=form) == changed
    assert said(model, active_loras={"a": 0.0}) == plain


@pytest.mark.every_processor
def test_two_adapters_add_up(model: Llama) -> None:
    model.load_lora("b", material.model(material.SYNTH_LORA))
    assert (model.list_loras(), model.loaded_lora_count) == (["a", "b"], 2)
    assert said(model, active_loras={"a": 0.5, "b": 0.5}) == said(model, active_loras={"a": 1.0})
    assert said(model, active_loras={"a": 1.0, "b": -1.0}) == said(model)


def test_a_suspended_stream_keeps_its_adapter(model: Llama) -> None:
    plain, changed = said(model), said(model, active_loras=["a"])
    stream = model.create_completion(PROMPT, max_tokens=12, stream=True, active_loras=["a"], **GREEDY)
    first = text(next(stream))
    assert said(model) == plain
    assert first + "".join(text(chunk) for chunk in stream) == changed


def test_unloading_ends_its_effect(model: Llama) -> None:
    plain = said(model)
    said(model, active_loras=["a"])
    model.unload_lora("a")
    assert said(model) == plain
    with pytest.raises(KeyError, match="no LoRA adapter 'a'"):
        said(model, active_loras=["a"])
    with pytest.raises(KeyError):
        model.unload_lora("a")


@pytest.mark.logs_native_errors
def test_files_that_are_no_adapter(model: Llama) -> None:
    for wrong in (material.model(material.SYNTH_LLAMA), __file__, "/nowhere.gguf"):
        with pytest.raises(ValueError, match="LoRA"):
            model.load_lora("x", wrong)
    assert model.list_loras() == ["a"]
    with pytest.raises(ValueError, match="loaded already"):
        model.load_lora("a", material.model(material.SYNTH_LORA))


def test_eval_and_generate_take_adapters_too(model: Llama) -> None:
    tokens = model.tokenize(PROMPT.encode())
    model.eval(tokens)
    plain = model.scores[-1].copy()
    model.reset()
    model.eval(tokens, active_loras=["a"])
    assert not np.allclose(model.scores[-1], plain, atol=1e-3)
    model.reset()
    assert next(model.generate(tokens, temp=0.0)) == int(np.argmax(plain))


@pytest.mark.every_processor
def test_control_vectors(model: Llama) -> None:
    plain = said(model)
    directions = np.random.default_rng(3).standard_normal((model.n_layer() - 1, model.n_embd())).astype(np.float32) * 3
    changed = said(model, control_vector=directions)
    assert changed != plain
    assert said(model, control_vector={"data": directions.ravel().tolist(), "layer_start": 1}) == changed
    assert said(model, control_vector=directions * 0) == plain
    assert said(model) == plain
    with pytest.raises(ValueError, match="control vector"):
        said(model, control_vector=[1.0, 2.0])


def test_the_constructors_adapter_is_the_default() -> None:
    options = {"n_ctx": 512, "n_batch": 256, "n_threads": 2, "n_threads_batch": 2, "verbose": False}
    lora = str(material.model(material.SYNTH_LORA))
    with Llama(str(material.model(material.SYNTH_LLAMA)), lora_path=lora, **options) as adapted:
        changed, plain = said(adapted), said(adapted, active_loras=[])
        assert changed != plain
        with pickle.loads(pickle.dumps(adapted)) as copy:  # noqa: S301 - our own bytes
            assert said(copy) == changed
