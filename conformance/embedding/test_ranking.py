"""Rankings: each document by itself, by the model's template or its vocabulary's marks; texts are only texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rig import material, profiles

from llama_cpp.llama_embedding import LLAMA_POOLING_TYPE_RANK, LlamaEmbedding

if TYPE_CHECKING:
    from collections.abc import Iterator

RANKERS = (material.SYNTH_RANKER, material.SYNTH_TEMPLATE_RANKER)
TEMPLATE = "tokenizer.chat_template.rerank"
DOCUMENTS = ["one", "two three", "", "four five six seven eight", "one"]
WORDS = st.text("ab c{}d.1", max_size=20)
TOLERANCE = {"abs": 1e-3, "rel": 1e-3}


def opened(variable: str, **options: int) -> LlamaEmbedding:
    return LlamaEmbedding(str(material.model(variable)), **{"n_ctx": 512, "n_threads": 2, "verbose": False, **options})


@pytest.fixture(scope="module")
def rankers() -> Iterator[dict[str, LlamaEmbedding]]:
    with opened(RANKERS[0]) as marking, opened(RANKERS[1]) as templated:
        yield dict(zip(RANKERS, (marking, templated), strict=True))


@pytest.fixture(scope="module", params=RANKERS, ids=["marks", "template"])
def ranker(request: pytest.FixtureRequest, rankers: dict[str, LlamaEmbedding]) -> LlamaEmbedding:
    return rankers[request.param]


def scored(ranker: LlamaEmbedding, tokens: list[int]) -> float:
    """The first output for exactly these tokens."""
    (answer,) = ranker.embed([tokens], normalize=-1)
    return float(answer[0] if isinstance(answer, list) else answer)


def by_hand(ranker: LlamaEmbedding, query: str, document: str) -> list[int]:
    """The tokens of a pair of harmless texts."""
    template = ranker.metadata.get(TEMPLATE)
    if template is not None:
        before, between, after = template.replace("{document}", "{query}").split("{query}")
        return ranker.tokenize(f"{before}{query}{between}{document}{after}".encode(), add_bos=False, special=True)
    first, second = (ranker.tokenize(text.encode(), add_bos=False) for text in (query, document))
    return [ranker.token_bos(), *first, ranker.token_sep(), *second, ranker.token_sep()]


def test_order_and_company_do_not_matter(ranker: LlamaEmbedding) -> None:
    together = ranker.rank("two", DOCUMENTS)
    assert together == pytest.approx([ranker.rank("two", [document])[0] for document in DOCUMENTS], **TOLERANCE)
    assert ranker.rank("two", DOCUMENTS[::-1]) == pytest.approx(together[::-1], **TOLERANCE)
    assert together[0] == pytest.approx(together[-1], **TOLERANCE)
    assert len({round(score, 2) for score in together}) > 2
    assert all(isinstance(score, float) for score in together)
    assert ranker.rank("two", []) == []


@settings(max_examples=profiles.examples(20))
@given(query=WORDS, document=WORDS)
@pytest.mark.parametrize("variable", RANKERS, ids=["marks", "template"])
def test_a_pair_is_what_the_model_was_trained_on(rankers: dict[str, LlamaEmbedding], variable: str, query: str, document: str) -> None:
    ranker = rankers[variable]
    assert ranker.rank(query, [document]) == pytest.approx([scored(ranker, by_hand(ranker, query, document))], **TOLERANCE)


def test_one_output_or_two() -> None:
    with opened(RANKERS[0]) as one, opened(RANKERS[1]) as two:
        assert isinstance(one.embed("one", normalize=-1), float)
        yes, no = two.embed("one", normalize=-1)
        assert yes + no == pytest.approx(1.0, abs=1e-5)
        assert 0 < two.rank("one", ["two"])[0] < 1


@pytest.mark.parametrize("normalize", [True, 0, 1, 2])
def test_scores_are_never_normalized(ranker: LlamaEmbedding, normalize: int) -> None:
    texts = ["one", "two three"]
    assert ranker.embed(texts, normalize=normalize) == [pytest.approx(ranker.embed(text, normalize=-1), **TOLERANCE) for text in texts]
    assert [item["embedding"] for item in ranker.create_embedding(texts)["data"]] == ranker.embed(texts)


def test_names_of_control_tokens_and_places_in_a_text_are_text(rankers: dict[str, LlamaEmbedding]) -> None:
    ranker = rankers[RANKERS[1]]
    before, between, after = ranker.metadata[TEMPLATE].replace("{document}", "{query}").split("{query}")
    beginning, middle = before.rpartition("<|im_start|>")[2], between + "{query}<|im_end|>"
    texts = f"{beginning}{{document}}<|im_start|>{middle}"  # one text from control token to control token
    control = {name: ranker.tokenize(name.encode(), add_bos=False, special=True)[-1] for name in ("<|im_start|>", "<|im_end|>")}
    rest = after.removeprefix("<|im_end|>\n<|im_start|>")
    tokens = [
        control["<|im_start|>"],
        *ranker.tokenize(texts.encode(), add_bos=False),
        control["<|im_end|>"],
        *ranker.tokenize(b"\n", add_bos=False),
        control["<|im_start|>"],
        *ranker.tokenize(rest.encode(), add_bos=False),
    ]
    assert ranker.rank("{document}<|im_start|>", ["{query}<|im_end|>"]) == pytest.approx([scored(ranker, tokens)], **TOLERANCE)


def test_of_a_long_pair_the_documents_end_is_left_out(ranker: LlamaEmbedding) -> None:
    document = " ".join(str(number) for number in range(400))
    beginnings = [document[:length] for length in range(300, len(document))]
    score = ranker.rank("two", [document])[0]
    fitting = [each for each in beginnings if len(by_hand(ranker, "two", each)) <= 512]
    assert score == pytest.approx(ranker.rank("two", [fitting[-1]])[0], **TOLERANCE)
    with pytest.raises(ValueError, match="exceed context window of 512 without any document"):
        ranker.rank(document, ["two"])


@pytest.mark.parametrize("variable", [material.SYNTH_TEMPLATE_RANKER, material.SYNTH_LLAMA])
def test_what_does_not_rank_says_so(variable: str) -> None:
    with opened(variable, pooling_type=3) as model, pytest.raises(RuntimeError, match="pooling_type=4"):
        model.rank("one", ["two"])


@pytest.mark.parametrize("variable", [material.SYNTH_BERT, material.SYNTH_LLAMA])
@pytest.mark.filterwarnings("ignore:LlamaEmbedding")
def test_ranking_without_a_head_is_refused(variable: str) -> None:
    """llama.cpp would give the first number of a vector."""
    with opened(variable, pooling_type=LLAMA_POOLING_TYPE_RANK) as model:
        with pytest.raises(RuntimeError, match="no classification head"):
            model.rank("one", ["two"])
        with pytest.raises(RuntimeError, match="no classification head"):
            model.embed("one")


def test_a_single_text_for_documents_is_a_mistake(ranker: LlamaEmbedding) -> None:
    with pytest.raises(TypeError, match="list of str"):
        ranker.rank("one", "two")
