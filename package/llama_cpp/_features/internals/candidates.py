"""`LlamaTokenDataArray`: candidates for samplers that are applied by hand; and the norm of an embedding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from llama_cpp._engine.candidates import Candidates
from llama_cpp._engine.errors import InvalidArgumentError
from llama_cpp._features.embedding.normalization import NORM_MODE_EUCLIDEAN, normalized

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


class LlamaTokenDataArray:
    """One candidate for each of `n_vocab` tokens. Samplers shrink and reorder them in place."""

    def __init__(self, n_vocab: int) -> None:
        self.n_vocab = n_vocab
        self.engine = Candidates(n_vocab)
        self.engine.fill(np.zeros(n_vocab, np.float32))

    @property
    def candidates(self) -> Any:
        """The native `llama_token_data_array`."""
        return self.engine.struct

    @property
    def candidates_data(self) -> NDArray[Any]:
        """The candidates that are left: a structured array (id, logit, p) over native memory."""
        return self.engine.data

    def copy_logits(self, logits: ArrayLike) -> None:
        """Begin anew: all candidates, in the order of their ids, with these logits."""
        values = np.asarray(logits, np.float32).reshape(-1)
        if len(values) != self.n_vocab:
            raise InvalidArgumentError(f"{len(values)} logits were given for {self.n_vocab} tokens")
        self.engine.fill(values)


def normalize_embedding(embedding: Sequence[float]) -> list[float]:
    """An embedding scaled to Euclidean norm 1; a zero vector stays zero."""
    rows = np.asarray(embedding, np.float32).reshape(1, -1)
    values: list[float] = normalized(rows, NORM_MODE_EUCLIDEAN)[0].tolist()
    return values
