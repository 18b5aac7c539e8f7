"""Where the suite's material lies: models, vocabularies and the wheel, all named by environment variables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import pytest

TRANSFORMER = "LLAMA_TEST_TRANSFORMER_MODEL"
SLIDING_WINDOW = "LLAMA_TEST_SWA_MODEL"
EMBEDDING = "LLAMA_TEST_EMBEDDING_MODEL"
SYNTH_LLAMA = "LLAMA_TEST_SYNTH_LLAMA"
SYNTH_LFM2 = "LLAMA_TEST_SYNTH_LFM2"
SYNTH_BERT = "LLAMA_TEST_SYNTH_BERT"
SYNTH_MIXTURE = "LLAMA_TEST_SYNTH_MIXTURE"
SYNTH_T5 = "LLAMA_TEST_SYNTH_T5"
SYNTH_LORA = "LLAMA_TEST_SYNTH_LORA"
SYNTH_GEMMA3 = "LLAMA_TEST_SYNTH_GEMMA3"
SYNTH_QWEN35 = "LLAMA_TEST_SYNTH_QWEN35"
SYNTH_MAMBA2 = "LLAMA_TEST_SYNTH_MAMBA2"
SYNTH_RWKV7 = "LLAMA_TEST_SYNTH_RWKV7"
SYNTH_RANKER = "LLAMA_TEST_SYNTH_RANKER"
SYNTH_TEMPLATE_RANKER = "LLAMA_TEST_SYNTH_TEMPLATE_RANKER"

_REQUIRED = "LLAMA_TEST_REQUIRE_MODELS"
_WHEEL = "LLAMA_TEST_WHEEL"
_VENDOR = "LLAMA_TEST_VENDOR"


def model(variable: str) -> Path:
    """The model that `variable` names. Without it the test skips, or fails where models are required."""
    return _file(variable, "fetch it with `python -m buildsys models fetch`")


def wheel() -> Path:
    """The wheel that was installed."""
    return _file(_WHEEL, "run the suite with `python -m buildsys conformance WHEEL`")


def vendor_file(relative: str) -> Path:
    """A file of the llama.cpp tree that the wheel was built from."""
    root = os.environ.get(_VENDOR)
    if not root:
        _absent(f"{_VENDOR} is not set")
    path = Path(root, relative)
    return path if path.is_file() else _absent(f"{relative} is not in the llama.cpp tree at {root}")


def vocabulary_names() -> list[str]:
    """Vocabulary files of llama.cpp that come with expected tokens, by name; empty without the tree."""
    root = os.environ.get(_VENDOR)
    found = Path(root, "models").glob("ggml-vocab-*.gguf") if root else ()
    return sorted(path.stem for path in found if all(path.with_name(f"{path.name}.{kind}").is_file() for kind in ("inp", "out")))


def required() -> bool:
    """Whether missing material is a failure."""
    return os.environ.get(_REQUIRED, "0") not in ("", "0")


def _file(variable: str, remedy: str) -> Path:
    name = os.environ.get(variable)
    if not name:
        _absent(f"{variable} is not set: {remedy}")
    path = Path(name)
    return path if path.is_file() else _absent(f"{variable} names {path}, which does not exist: {remedy}")


def _absent(reason: str) -> NoReturn:
    if required():
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
