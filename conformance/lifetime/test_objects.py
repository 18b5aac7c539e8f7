"""Closing: once or twice, by hand, by `with`, by the collector; and nothing after it reaches native code."""

from __future__ import annotations

import gc
import warnings
from typing import TYPE_CHECKING

import pytest
from rig import material, native_state
from rig.generation import GREEDY

if TYPE_CHECKING:
    from pathlib import Path

from llama_cpp import Llama


def opened() -> Llama:
    return Llama(str(material.model(material.SYNTH_LLAMA)), n_ctx=64, verbose=False)


def test_close_twice() -> None:
    llama = opened()
    llama.close()
    llama.close()


def test_context_manager_closes() -> None:
    before = native_state.live_handles()
    with opened() as llama:
        assert native_state.live_handles() > before
    assert native_state.live_handles() == before
    llama.close()


@pytest.mark.parametrize(
    "use",
    [
        lambda llama: llama.create_completion("Hello", max_tokens=1),
        lambda llama: list(llama.create_completion("Hello", max_tokens=1, stream=True)),
        lambda llama: llama("Hello", max_tokens=1),
        lambda llama: llama.tokenize(b"Hello"),
        lambda llama: llama.detokenize([1]),
        lambda llama: llama.eval([1]),
        lambda llama: llama.reset(),
        lambda llama: llama.ctx,
        lambda llama: llama.model,
    ],
    ids=["completion", "stream", "call", "tokenize", "detokenize", "eval", "reset", "ctx", "model"],
)
def test_use_after_close_raises(use: object) -> None:
    llama = opened()
    llama.close()
    with pytest.raises(RuntimeError, match="closed"):
        use(llama)  # type: ignore[operator]


@pytest.mark.logs_native_errors
def test_error_lines_of_native_code_are_seen(tmp_path: Path) -> None:
    """The check around every test can fail."""
    (tmp_path / "broken.gguf").write_bytes(b"no model")
    with native_state.ErrorLines() as errors, pytest.raises(ValueError, match="broken"):
        Llama(str(tmp_path / "broken.gguf"), verbose=False)
    assert errors.lines


def test_collector_frees_and_warns() -> None:
    before = native_state.live_handles()
    llama = opened()
    assert native_state.live_handles() > before
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del llama
        gc.collect()
    assert native_state.live_handles() == before
    assert any(issubclass(warning.category, ResourceWarning) for warning in caught)


@pytest.mark.every_processor
def test_closing_in_a_stream_ends_it() -> None:
    llama = opened()
    stream = llama.create_completion("Hello", max_tokens=20, stream=True, **GREEDY)
    next(stream)
    llama.close()
    with pytest.raises(RuntimeError, match="closed"):
        list(stream)


@pytest.mark.every_processor
def test_many_objects_side_by_side() -> None:
    models = [opened() for _ in range(4)]
    texts = {model.create_completion("Hello", max_tokens=6, **GREEDY)["choices"][0]["text"] for model in models}
    assert len(texts) == 1
    for model in (models[2], models[0], models[3], models[1]):
        model.close()
