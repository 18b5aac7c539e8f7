"""How a query and a document are put together for a model that says how well they match."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

from llama_cpp._features.errors import ContextWindowError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from llama_cpp._engine.vocab import Vocab

    TokenArray = NDArray[np.int32]

TEMPLATE_NAME = "rerank"
TELLS_TEXTS_APART = (
    "this model was trained to tell the query from the document by token types, which llama.cpp sets to 0 everywhere: "
    "its order of the documents may be wrong; prefer a ranking model without token types"
)
_PLACE = re.compile(r"\{query\}|\{document\}")


class PairFormat:
    """Makes one sequence of a query and a document, by the model's template or by the marks that its vocabulary wants.

    Query and document are text, whatever they hold: names of control tokens and of places in the template are none in them.
    """

    def __init__(self, vocab: Vocab, template: str | None = None) -> None:
        self._vocab = vocab
        self._parts = None if template is None else template_parts(vocab, template)

    def tokens(self, query: str, document: str) -> TokenArray:
        """The whole pair."""
        found = self._marked(query, document) if self._parts is None else self._filled(query, document)
        return np.array(found, np.int32)

    def fitting(self, query: str, document: str, limit: int) -> TokenArray:
        """The pair in at most `limit` tokens: with as much of the document's beginning as there is room for.

        Raises `ContextWindowError` where the query alone is too long.
        """
        whole = self.tokens(query, document)
        if len(whole) <= limit:
            return whole
        least = len(self.tokens(query, ""))
        if least > limit:
            raise ContextWindowError(f"Requested tokens ({least}) exceed context window of {limit} without any document; shorten the query")
        lengths = range(1, len(document) + 1)
        fits = bisect_right(lengths, limit, key=lambda length: len(self.tokens(query, document[:length])))
        return self.tokens(query, document[:fits])

    def _filled(self, query: str, document: str) -> list[int]:
        texts = {"{query}": query, "{document}": document}
        tokens: list[int] = []
        for part in self._parts or ():
            if isinstance(part, int):
                tokens.append(part)
            elif text := _PLACE.sub(lambda place: texts[place[0]], part):
                tokens += self._vocab.tokenize(text, add_special=False)
        return tokens

    def _marked(self, query: str, document: str) -> list[int]:
        """BOS, query, EOS, SEP, document, EOS: those of them that the vocabulary adds to a text of its own accord.

        One that ends its texts with SEP alone (BERT's) has that at the end of the pair too.
        """
        vocab = self._vocab
        end = vocab.eos if vocab.eos >= 0 else vocab.sep
        begins = [vocab.bos] if vocab.add_bos and vocab.bos >= 0 else []
        ends = [end] if vocab.add_eos and end >= 0 else []
        between = [vocab.sep] if vocab.add_sep and vocab.sep >= 0 else []
        first, second = (vocab.tokenize(text, add_special=False) for text in (query, document))
        return [*begins, *first, *ends, *between, *second, *(ends or between)]


def tells_texts_apart(metadata: Mapping[str, str]) -> bool:
    """Whether the model is a BERT with an embedding of its own for the second of two texts (`src/models/bert.cpp` uses the first one)."""
    return metadata.get("tokenizer.ggml.model") == "bert" and int(metadata.get("tokenizer.ggml.token_type_count", 1)) > 1


def template_parts(vocab: Vocab, template: str) -> tuple[str | int, ...]:
    """The template as text and the control tokens between it.

    What stands between two control tokens is tokenized as one text once the places in it are filled, because a token may reach
    across the edge of a place.
    """
    parts: list[str | int] = []
    rest = template
    for token in vocab.tokenize(template, add_special=False, parse_special=True):
        if not vocab.is_control(token):
            continue
        before, name, after = rest.partition(vocab.text(token).decode("utf-8", "replace"))
        if name:
            parts += [before, token]
            rest = after
    return (*parts, rest)
