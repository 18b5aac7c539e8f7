"""Vectors of texts: in the inputs' order, the same together as alone, normalized as asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rig import child, material

from llama_cpp import Llama
from llama_cpp.llama_embedding import LlamaEmbedding

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXTS = ["one two three", "", "two", "three one two four five six seven", "one two three"]
NONE, MEAN, FIRST, LAST = range(4)


def opened(variable: str, **changes: Any) -> Llama:
    return Llama(str(material.model(variable)), **{"n_ctx": 512, "embeddings": True, "n_threads": 2, "verbose": False, **changes})


@pytest.fixture(params=[material.SYNTH_BERT, material.SYNTH_LLAMA, material.SYNTH_LFM2], ids=["bert", "llama", "lfm2"])
def pooled(request: pytest.FixtureRequest) -> Iterator[Llama]:
    with opened(request.param, pooling_type=MEAN) as model:
        yield model


@pytest.mark.every_processor
def test_order_and_company_do_not_matter(pooled: Llama) -> None:
    together = pooled.embed(TEXTS)
    assert [len(vector) for vector in together] == [pooled.n_embd_out()] * len(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        assert pooled.embed(text) == pytest.approx(vector, abs=1e-3)
    assert not np.allclose(together[0], together[3])
    assert pooled.embed(list(reversed(TEXTS))) == [pytest.approx(vector, abs=1e-3) for vector in reversed(together)]


@pytest.mark.parametrize(("normalize", "order"), [(True, 2), (1, 1), (2, 2), (6, 6)])
def test_norms(pooled: Llama, normalize: Any, order: int) -> None:
    assert np.linalg.norm(pooled.embed("one two", normalize=normalize), order) == pytest.approx(1.0, abs=1e-5)
    assert np.abs(pooled.embed("one two", normalize=0)).max() == pytest.approx(32760, rel=1e-5)
    assert pooled.embed("one two", normalize=False) == pytest.approx(pooled.embed("one two", normalize=-1))


def test_texts_are_only_texts(pooled: Llama) -> None:
    name = "<s>"
    plain = pooled.tokenize(name.encode(), add_bos=False, special=False)
    assert pooled.tokenize(name.encode(), add_bos=False, special=True) != plain or len(plain) != 1
    assert pooled.embed([pooled.tokenize(name.encode(), add_bos=True, special=False)])[0] == pytest.approx(pooled.embed(name), abs=1e-3)


def test_counts_and_separators(pooled: Llama) -> None:
    vectors, count = pooled.embed("one|two three", separator="|", return_count=True)
    assert count == sum(len(pooled.tokenize(part.encode())) for part in ("one", "two three"))
    assert vectors == [pytest.approx(pooled.embed("one"), abs=1e-3), pytest.approx(pooled.embed("two three"), abs=1e-3)]
    assert pooled.embed([]) == []


def test_too_long_is_cut_or_refused(pooled: Llama) -> None:
    long = "one two three " * 600
    assert len(pooled.embed(long)) == pooled.n_embd_out()
    with pytest.raises(ValueError, match="exceed context window"):
        pooled.embed(long, truncate=False)


def test_the_shape_of_openai(pooled: Llama) -> None:
    answer = pooled.create_embedding(["one", "two three"], model="name")
    assert (answer["object"], answer["model"]) == ("list", "name")
    assert [(item["object"], item["index"]) for item in answer["data"]] == [("embedding", 0), ("embedding", 1)]
    assert answer["data"][0]["embedding"] == pytest.approx(pooled.embed("one"), abs=1e-3)
    assert answer["usage"]["prompt_tokens"] == answer["usage"]["total_tokens"] > 0
    assert len(pooled.create_embedding("one")["data"]) == 1


def test_without_pooling_every_token_has_a_vector() -> None:
    with opened(material.SYNTH_LLAMA, pooling_type=NONE, n_batch=8) as model:
        text = "one two three four five six seven eight"
        tokens = model.tokenize(text.encode())
        assert np.shape(model.embed(text)) == (len(tokens), model.n_embd_out())
        lengths = [len(model.tokenize(each.encode())) for each in (text, "", "one")]
        assert [len(rows) for rows in model.embed([text, "", "one"])] == lengths
        assert np.allclose(model.embed(text, normalize=True)[-1], np.array(model.embed([text], normalize=True)[0][-1]), atol=1e-3)


@pytest.mark.parametrize("pooling", [FIRST, LAST])
@pytest.mark.every_processor
def test_pooling_chooses_the_token(pooling: int) -> None:
    with opened(material.SYNTH_LLAMA, pooling_type=NONE) as single, opened(material.SYNTH_LLAMA, pooling_type=pooling) as model:
        rows = single.embed("one two three")
        assert model.embed("one two three") == pytest.approx(rows[0 if pooling == FIRST else -1], abs=1e-3)


@pytest.mark.every_processor
def test_mean_pooling_is_the_mean() -> None:
    with opened(material.SYNTH_LLAMA, pooling_type=NONE) as single, opened(material.SYNTH_LLAMA, pooling_type=MEAN) as model:
        assert model.embed("one two three") == pytest.approx(np.mean(single.embed("one two three"), axis=0), abs=1e-3)


def test_generation_and_embedding_take_turns() -> None:
    with opened(material.SYNTH_LLAMA, pooling_type=MEAN) as model:
        before = model("one two", max_tokens=8, temperature=0.0)["choices"][0]["text"]
        vector = model.embed("three four")
        assert model("one two", max_tokens=8, temperature=0.0)["choices"][0]["text"] == before
        assert model.embed("three four") == pytest.approx(vector, abs=1e-3)


def test_without_embeddings_it_says_how_to_get_them(synthetic: Llama) -> None:
    with pytest.raises(RuntimeError, match="embeddings=True"):
        synthetic.embed("one")


def test_an_encoder_generates_no_text() -> None:
    with opened(material.SYNTH_BERT) as model, pytest.raises(RuntimeError, match="encoder"):
        model("one")


def test_llama_embedding() -> None:
    with LlamaEmbedding(str(material.model(material.SYNTH_BERT)), n_threads=2, verbose=False) as model:
        vectors = model.create_embedding(TEXTS, output_format="array")
        assert np.linalg.norm(vectors[0]) == pytest.approx(1.0, abs=1e-5)
        answer = model.create_embedding(TEXTS, output_format="json+")
        assert np.allclose(answer["cosineSimilarity"], np.array(vectors) @ np.array(vectors).T, atol=1e-4)
        with pytest.raises(ValueError, match="output_format"):
            model.create_embedding(TEXTS, output_format="xml")
        with pytest.raises(RuntimeError, match="ranking"):
            model.rank("one", ["two"])


def test_inputs_of_each_kind() -> None:
    with LlamaEmbedding(str(material.model(material.SYNTH_BERT)), n_threads=2, verbose=False) as model:
        tokens = model.tokenize(b"one two")
        vector = model.embed("one two")
        for single in (tokens, np.array(tokens), tuple(tokens)):
            assert model.embed(single) == pytest.approx(vector, abs=1e-3)
            assert [item["embedding"] for item in model.create_embedding(single)["data"]] == [pytest.approx(vector, abs=1e-3)]
        for several in ([tokens, "one two"], ("one two", tokens), iter(["one two", "one two"])):
            assert model.embed(several) == [pytest.approx(vector, abs=1e-3)] * 2
        assert model.create_embedding([], output_format="array") == []
        for wrong in (b"one two", None, 5, [b"one two"], [1.5]):
            with pytest.raises(TypeError):
                model.embed(wrong)


def test_only_pooled_vectors_are_compared() -> None:
    with LlamaEmbedding(str(material.model(material.SYNTH_BERT)), pooling_type=NONE, n_threads=2, verbose=False) as model:
        with pytest.raises(ValueError, match="compares pooled vectors"):
            model.create_embedding(["one", "two three"], output_format="json+")
        assert len(model.create_embedding(["one", "two three"])["data"]) == 2


@pytest.mark.once_per_wheel
def test_similar_texts_are_similar() -> None:
    with opened(material.TRANSFORMER, pooling_type=MEAN) as model:
        texts = ["The cat sits on the mat.", "A cat is sitting on a mat.", "Interest rates rose in March."]
        vectors = np.array(model.embed(texts, normalize=True))
        similarity = vectors @ vectors.T
        assert similarity[0, 1] > similarity[0, 2]


SIZES = """
    import itertools, sys
    from llama_cpp import Llama
    sharing = (70, 1, None), (512, 3, True), (512, 3, False), (70, 64, True)
    for n_ctx, (n_batch, n_seq_max, unified) in itertools.product((0, 100), sharing):
        options = {"n_ctx": n_ctx, "n_batch": n_batch, "n_ubatch": n_batch, "n_seq_max": n_seq_max, "kv_unified": unified}
        with Llama(sys.argv[1], embeddings=True, pooling_type=1, n_outputs_max=4, n_threads=1, verbose=False, **options) as model:
            assert len(model.embed(["one two three", "", "four"] * 3)) == 9
    print("true")
"""


@pytest.mark.once_per_wheel
@pytest.mark.parametrize("variable", [material.SYNTH_BERT, material.SYNTH_LLAMA, material.SYNTH_LFM2], ids=["bert", "llama", "lfm2"])
def test_no_sizes_end_the_process(variable: str) -> None:
    """llama.cpp asserts that the texts of a batch share its tokens evenly."""
    assert child.run(SIZES, material.model(variable)).json() is True
