"""Properties of vectors for any lists of texts: their order, their counts, what is cut, and that company changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rig import material, profiles

from llama_cpp import Llama

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

pytestmark = pytest.mark.once_per_wheel

NONE, MEAN = 0, 1
N_CTX = 64
TEXTS = st.lists(st.one_of(st.just(""), st.text(max_size=12), st.text("ab <s>[]", max_size=100)), max_size=9)
SOME = settings(max_examples=profiles.examples(25))
MODELS = {"bert": material.SYNTH_BERT, "llama": material.SYNTH_LLAMA}
EACH = pytest.mark.parametrize("name", list(MODELS))


def opened(variable: str, **changes: Any) -> Llama:
    sizes = {"n_ctx": N_CTX, "n_batch": N_CTX, "n_ubatch": N_CTX}
    options = {"embeddings": True, "n_threads": 1, "n_threads_batch": 1, "verbose": False}
    return Llama(str(material.model(variable)), **{**sizes, **options, **changes})


@pytest.fixture(scope="module")
def single() -> Iterator[dict[str, Llama]]:
    """Models that pool, one text at a time."""
    models = {name: opened(variable, pooling_type=MEAN, n_seq_max=1, kv_unified=False) for name, variable in MODELS.items()}
    yield models
    for model in models.values():
        model.close()


@pytest.fixture(scope="module")
def packing() -> Iterator[dict[str, Llama]]:
    """Models that pool, three texts at a time."""
    models = {name: opened(variable, pooling_type=MEAN, n_seq_max=3, kv_unified=True) for name, variable in MODELS.items()}
    yield models
    for model in models.values():
        model.close()


@pytest.fixture(scope="module")
def unpooled() -> Iterator[dict[str, Llama]]:
    """Models that give a vector per token."""
    models = {name: opened(variable, pooling_type=NONE, n_seq_max=3, kv_unified=True) for name, variable in MODELS.items()}
    yield models
    for model in models.values():
        model.close()


def tokens_of(model: Llama, text: str) -> list[int]:
    return model.tokenize(text.encode("utf-8", "surrogatepass"))


def alike(found: Sequence[Any], wanted: Sequence[Any]) -> bool:
    return len(found) == len(wanted) and all(np.allclose(one, other, atol=2e-3) for one, other in zip(found, wanted, strict=True))


@EACH
@SOME
@given(texts=TEXTS)
def test_together_as_one_by_one(single: dict[str, Llama], packing: dict[str, Llama], name: str, texts: list[str]) -> None:
    given_texts = list(texts)
    together = packing[name].embed(given_texts)
    assert given_texts == texts
    assert alike(together, [single[name].embed(text) for text in texts])
    assert alike(packing[name].embed(texts[::-1]), together[::-1])


@EACH
@SOME
@given(texts=TEXTS)
def test_the_count_is_of_the_tokens_evaluated(packing: dict[str, Llama], name: str, texts: list[str]) -> None:
    vectors, count = packing[name].embed(texts, return_count=True)
    assert len(vectors) == len(texts)
    assert count == sum(min(len(tokens_of(packing[name], text)), packing[name].n_batch) for text in texts)
    assert packing[name].create_embedding(texts)["usage"] == {"prompt_tokens": count, "total_tokens": count}


@EACH
@SOME
@given(text=st.text("ab <s>[]", max_size=200))
def test_a_text_too_long_is_its_beginning_or_an_error(single: dict[str, Llama], name: str, text: str) -> None:
    model = single[name]
    tokens = tokens_of(model, text)
    if len(tokens) <= N_CTX:
        assert alike([model.embed(text, truncate=False)], [model.embed(text)])
        return
    ending = tokens[-1:] if name == "bert" else []  # SEP stays at the end
    assert alike([model.embed(text)], model.embed([tokens[: N_CTX - len(ending)] + ending]))
    with pytest.raises(ValueError, match=f"exceed context window of {N_CTX}"):
        model.embed(text, truncate=False)


@EACH
@SOME
@given(texts=TEXTS)
def test_the_mean_of_the_tokens_vectors(unpooled: dict[str, Llama], packing: dict[str, Llama], name: str, texts: list[str]) -> None:
    rows = unpooled[name].embed(texts)
    limits = {"bert": unpooled[name].n_batch, "llama": unpooled[name].n_ctx()}  # a vector per token needs no single batch
    assert [len(each) for each in rows] == [min(len(tokens_of(unpooled[name], text)), limits[name]) for text in texts]
    assert alike([np.mean(each, axis=0) for each in rows], packing[name].embed(texts))


@EACH
@SOME
@given(texts=TEXTS, normalize=st.sampled_from([-1, 0, 1, 2, 3, 6, True, False]))
def test_normalizing_keeps_the_direction(packing: dict[str, Llama], name: str, texts: list[str], normalize: Any) -> None:
    plain, scaled = packing[name].embed(texts), packing[name].embed(texts, normalize=normalize)
    assert len(plain) == len(scaled)
    for one, other in zip(plain, scaled, strict=True):
        assert np.isfinite(other).all()
        assert np.dot(one, other) == pytest.approx(np.linalg.norm(one) * np.linalg.norm(other), rel=1e-3)


@EACH
def test_an_input_without_tokens_is_zero_and_its_neighbours_are_not(
    packing: dict[str, Llama], unpooled: dict[str, Llama], name: str
) -> None:
    token = tokens_of(packing[name], "a")
    for normalize in (False, True, 0, 1):
        before, empty, after = packing[name].embed([token, [], token], normalize=normalize)
        assert not np.any(empty)
        assert alike([before], [after])
        assert np.any(before)
    assert [len(rows) for rows in unpooled[name].embed([token, [], token])] == [len(token), 0, len(token)]


def test_together_as_one_by_one_on_smollm2() -> None:
    texts = ["The sea is calm tonight.", "", "Ebbe und Flut", "漢字かな", "x = [i for i in range(10)]", "The sea is calm tonight."]
    options = {"n_ctx": 256, "n_batch": 256, "n_ubatch": 256, "pooling_type": MEAN}
    with opened(material.TRANSFORMER, **options, n_seq_max=4, kv_unified=True) as several, opened(material.TRANSFORMER, **options) as one:
        together = several.embed(texts, normalize=True)
        alone = [one.embed(text, normalize=True) for text in texts]
    for index, (vector, other) in enumerate(zip(together, alone, strict=True)):
        assert np.dot(vector, other) == pytest.approx(float(bool(texts[index])), abs=1e-3)
