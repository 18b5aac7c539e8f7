"""Fixtures of the whole suite: models, and the check around every test that nothing native is left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

# `child` first: it keeps the environment variables as they were before anything imports the tested package.
from rig import child, material, native_state, profiles  # noqa: F401

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llama_cpp import Llama

profiles.load()

CONTEXT = {"n_ctx": 512, "n_batch": 256, "n_threads": 2, "n_threads_batch": 2, "verbose": False}
TEXT_MODELS = (
    # The real model is slow: what it shows on one Python, the synthetic ones show on the others.
    pytest.param(material.TRANSFORMER, id="smollm2", marks=pytest.mark.once_per_wheel),
    pytest.param(material.SYNTH_LLAMA, id="synthetic-llama"),
    pytest.param(material.SYNTH_LFM2, id="synthetic-lfm2"),
)


@pytest.fixture(scope="session", autouse=True)
def _all_is_closed_at_the_end() -> Iterator[None]:
    yield
    assert native_state.live_handles() == 0, "native objects outlive the session"


@pytest.fixture(autouse=True)
def nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Around each test: no native object more than before, and no error line unless the test is marked for them."""
    before = native_state.live_handles()
    with native_state.ErrorLines() as errors:
        yield
    assert native_state.live_handles() == before, "the test left native objects open"
    if request.node.get_closest_marker("logs_native_errors") is None:
        assert errors.lines == [], "native code logged errors"


@pytest.fixture(scope="session")
def opened_models() -> Iterator[dict[str, Llama]]:
    """Models that tests share, by the variable that names them; closed when the session ends."""
    models: dict[str, Llama] = {}
    yield models
    for model in models.values():
        model.close()


def _shared(models: dict[str, Llama], variable: str) -> Llama:
    from llama_cpp import Llama  # noqa: PLC0415 - not before `child`

    path = material.model(variable)
    if variable not in models:
        models[variable] = Llama(str(path), **CONTEXT)
    models[variable].reset()
    return models[variable]


@pytest.fixture(scope="session")
def shared_smollm2(opened_models: dict[str, Llama]) -> Llama:
    return _shared(opened_models, material.TRANSFORMER)


@pytest.fixture(scope="session", params=TEXT_MODELS)
def shared_text_model(request: pytest.FixtureRequest, opened_models: dict[str, Llama]) -> Llama:
    return _shared(opened_models, request.param)


@pytest.fixture(scope="session")
def shared_synthetic(opened_models: dict[str, Llama]) -> Llama:
    """The synthetic llama model; its memory holds what the test before left."""
    return _shared(opened_models, material.SYNTH_LLAMA)


@pytest.fixture
def smollm2(shared_smollm2: Llama) -> Llama:
    """SmolLM2-135M-Instruct, its memory empty."""
    shared_smollm2.reset()
    return shared_smollm2


@pytest.fixture
def synthetic(shared_synthetic: Llama) -> Llama:
    """A tiny model of random weights, its memory empty."""
    shared_synthetic.reset()
    return shared_synthetic


@pytest.fixture
def text_model(shared_text_model: Llama) -> Llama:
    """Each model that generates text in turn, its memory empty."""
    shared_text_model.reset()
    return shared_text_model
