"""Query and document as one sequence: by the model's template, or by the marks that its vocabulary wants."""

from __future__ import annotations

from typing import Any

from llama_cpp._features.embedding.reranking import pair_tokens

BOS, EOS, SEP, MARK = 1000, 1001, 1002, 1003


class Vocab:
    bos, eos, sep = BOS, EOS, SEP

    def __init__(self, *, add_bos: bool = True, add_eos: bool = True, add_sep: bool = True) -> None:
        self.add_bos, self.add_eos, self.add_sep = add_bos, add_eos, add_sep

    def tokenize(self, text: str, *, add_special: bool, parse_special: bool = False) -> list[int]:
        assert not add_special
        pieces = text.split("<m>") if parse_special else [text]
        return [token for index, piece in enumerate(pieces) for token in ([MARK] if index else []) + [ord(each) for each in piece]]


def pair(vocab: Any, query: str, document: str, **options: Any) -> list[int]:
    tokens: list[int] = pair_tokens(vocab, query, document, **options).tolist()
    return tokens


def test_without_a_template() -> None:
    assert pair(Vocab(), "q", "d") == [BOS, ord("q"), EOS, SEP, ord("d"), EOS]
    assert pair(Vocab(add_bos=False, add_eos=False, add_sep=False), "q", "d") == [ord("q"), ord("d")]


def test_a_templates_marks_are_marks_and_the_texts_are_texts() -> None:
    found = pair(Vocab(), "<m>{document}", "d<m>", template="<m>{query}|{document}<m>")
    assert found == [MARK, *map(ord, "<m>{document}"), ord("|"), *map(ord, "d<m>"), MARK]
