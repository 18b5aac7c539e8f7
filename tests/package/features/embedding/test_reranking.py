"""Query and document as one sequence: by the model's template, or by the marks that its vocabulary wants."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._features.embedding.reranking import PairFormat, tells_texts_apart, template_parts
from llama_cpp._features.errors import ContextWindowError

BOS, EOS, SEP, MARK, PAIR = 1000, 1001, 1002, 1003, 1004
TEXTS = st.text("abq<m>{document}{query}", max_size=12)


class Vocab:
    """One token per character, but for `<m>` where control tokens are read, and "ab", which is one token."""

    bos, sep = BOS, SEP

    def __init__(self, *, add_bos: bool = True, add_eos: bool = True, add_sep: bool = True, eos: int = EOS) -> None:
        self.add_bos, self.add_eos, self.add_sep, self.eos = add_bos, add_eos, add_sep, eos

    def tokenize(self, text: str, *, add_special: bool, parse_special: bool = False) -> list[int]:
        assert not add_special
        tokens: list[int] = []
        while text:
            special = parse_special and text.startswith("<m>")
            tokens.append(MARK if special else PAIR if text.startswith("ab") else ord(text[0]))
            text = text[3 if special else 2 if text.startswith("ab") else 1 :]
        return tokens

    def is_control(self, token: int) -> bool:
        return token == MARK

    def text(self, token: int) -> bytes:
        assert token == MARK
        return b"<m>"


def pair(vocab: Any, query: str, document: str, template: str | None = None) -> list[int]:
    tokens: list[int] = PairFormat(vocab, template).tokens(query, document).tolist()
    return tokens


def characters(text: str) -> list[int]:
    return [ord(each) for each in text]


@pytest.mark.parametrize(
    ("vocab", "expected"),
    [
        (Vocab(), [BOS, ord("q"), EOS, SEP, ord("d"), EOS]),
        (Vocab(add_sep=False), [BOS, ord("q"), EOS, ord("d"), EOS]),
        (Vocab(eos=-1), [BOS, ord("q"), SEP, SEP, ord("d"), SEP]),
        (Vocab(add_eos=False, eos=-1), [BOS, ord("q"), SEP, ord("d"), SEP]),
        (Vocab(add_bos=False, add_eos=False, add_sep=False), [ord("q"), ord("d")]),
    ],
    ids=["both", "eos", "no-eos-token", "sep", "none"],
)
def test_without_a_template(vocab: Vocab, expected: list[int]) -> None:
    assert pair(vocab, "q", "d") == expected


def test_a_templates_marks_are_marks_and_the_texts_are_texts() -> None:
    found = pair(Vocab(), "<m>{document}", "d<m>", template="<m>{query}|{document}<m>")
    assert found == [MARK, *characters("<m>{document}"), ord("|"), *characters("d<m>"), MARK]


def test_a_token_may_reach_from_the_template_into_a_text() -> None:
    assert pair(Vocab(), "b", "b", template="a{query}<m>a{document}") == [PAIR, MARK, PAIR]


def test_the_template_is_cut_at_its_control_tokens() -> None:
    vocab: Any = Vocab()
    assert template_parts(vocab, "x<m><m>y") == ("x", MARK, "", MARK, "y")
    assert template_parts(vocab, "xy") == ("xy",)


@given(TEXTS.filter(lambda text: "<m>" not in text), TEXTS.filter(lambda text: "<m>" not in text))
def test_texts_without_control_tokens_give_what_the_whole_prompt_gives(query: str, document: str) -> None:
    whole = Vocab().tokenize(f"<m>a{query}b\n{document}b<m>", add_special=False, parse_special=True)
    assert pair(Vocab(), query, document, template="<m>a{query}b\n{document}b<m>") == whole


@given(TEXTS, TEXTS, st.sampled_from([None, "<m>a{query}b{document}<m>b"]), st.integers(0, 40))
def test_a_pair_keeps_the_query_and_as_much_of_the_document_as_fits(query: str, document: str, template: str | None, limit: int) -> None:
    vocab: Any = Vocab()
    form = PairFormat(vocab, template)
    if len(form.tokens(query, "")) > limit:
        with pytest.raises(ContextWindowError, match="shorten the query"):
            form.fitting(query, document + "q" * 41, limit)
        return
    found = form.fitting(query, document, limit).tolist()
    candidates = [pair(vocab, query, document[:length], template) for length in range(len(document) + 1)]
    assert found in candidates
    assert len(found) <= limit
    assert len(found) >= min(len(candidates[-1]), limit - 1)  # a token of two characters may not fit any more


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"tokenizer.ggml.model": "bert", "tokenizer.ggml.token_type_count": "2"}, True),
        ({"tokenizer.ggml.model": "bert", "tokenizer.ggml.token_type_count": "1"}, False),
        ({"tokenizer.ggml.model": "bert"}, False),
        ({"tokenizer.ggml.model": "t5", "tokenizer.ggml.token_type_count": "2"}, False),
        ({}, False),
    ],
)
def test_which_models_have_a_second_kind_of_text(metadata: dict[str, str], expected: bool) -> None:
    assert tells_texts_apart(metadata) is expected
