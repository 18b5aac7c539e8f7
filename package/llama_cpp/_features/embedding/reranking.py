"""How a query and a document are put together for a model that says how well they match."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from llama_cpp._engine.vocab import Vocab

TEMPLATE_NAME = "rerank"
_PLACE = re.compile(r"(\{query\}|\{document\})")


def pair_tokens(vocab: Vocab, query: str, document: str, *, template: str | None = None) -> NDArray[np.int32]:
    """The tokens of one pair.

    With a template its own text may name control tokens; query and document are text, whatever they hold. Without
    one: BOS, query, EOS, SEP, document, EOS, of which the vocabulary says which it wants (`format_rerank` of
    llama.cpp's server).
    """
    texts = {"{query}": query, "{document}": document}
    tokens: list[int] = []
    if template is not None:
        for part in _PLACE.split(template):
            plain = texts.get(part)
            tokens += vocab.tokenize(part if plain is None else plain, add_special=False, parse_special=plain is None)
        return np.array(tokens, np.int32)
    ending = [vocab.eos] if vocab.add_eos and vocab.eos >= 0 else []
    beginning = [vocab.bos] if vocab.add_bos and vocab.bos >= 0 else []
    between = [vocab.sep] if vocab.add_sep and vocab.sep >= 0 else []
    tokens = [
        *beginning,
        *vocab.tokenize(query, add_special=False),
        *ending,
        *between,
        *vocab.tokenize(document, add_special=False),
        *ending,
    ]
    return np.array(tokens, np.int32)
