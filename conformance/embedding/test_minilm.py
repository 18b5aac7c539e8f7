"""all-MiniLM-L6-v2 as this project converts it, against what PyTorch computes from the published weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rig import material

from llama_cpp import Llama

if TYPE_CHECKING:
    from collections.abc import Iterator

REFERENCE = json.loads(Path(__file__).with_name("minilm_reference.json").read_text(encoding="utf-8"))["rows"]
OPTIONS = {"n_ctx": 1024, "n_batch": 1024, "n_ubatch": 1024, "n_seq_max": 8, "kv_unified": True, "n_threads": 2, "verbose": False}

pytestmark = pytest.mark.once_per_wheel


@pytest.fixture(scope="module")
def minilm() -> Iterator[Llama]:
    with Llama(str(material.model(material.EMBEDDING)), embeddings=True, **OPTIONS) as model:
        yield model


def cosine(first: Any, second: Any) -> float:
    one, other = np.array(first, np.float64), np.array(second, np.float64)
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


@pytest.mark.parametrize("row", REFERENCE, ids=range(len(REFERENCE)))
def test_tokens_and_vectors_are_those_of_the_published_model(minilm: Llama, row: dict[str, Any]) -> None:
    assert minilm.tokenize(row["text"].encode()) == row["tokens"]
    assert cosine(minilm.embed(row["text"]), row["vector"]) > 0.9999


def test_together_as_alone(minilm: Llama) -> None:
    vectors = minilm.embed([row["text"] for row in REFERENCE])
    assert min(cosine(vector, row["vector"]) for vector, row in zip(vectors, REFERENCE, strict=True)) > 0.9999


def test_what_is_alike_is_nearest(minilm: Llama) -> None:
    texts = {row["text"]: row["vector"] for row in REFERENCE}
    cat = minilm.embed("A cat sat on a mat.")
    assert sorted(texts, key=lambda text: -cosine(cat, texts[text]))[:2] == ["A cat is sitting on a mat!", "The cat sits on the mat."]
