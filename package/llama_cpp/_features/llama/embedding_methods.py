"""The part of `Llama` that turns texts into vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from llama_cpp._features.embedding.normalization import NORM_MODE_NONE, norm_mode, normalized
from llama_cpp._features.embedding.responses import response

from .core import LlamaCore

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from llama_cpp._features.types.embedding import CreateEmbeddingResponse

    EmbeddingInput = str | Sequence[str] | Sequence[int] | Sequence[Sequence[int]]


class EmbeddingMethods(LlamaCore):
    """`embed` and `create_embedding`, for objects created with `embeddings=True`."""

    def embed(
        self,
        input: EmbeddingInput,  # noqa: A002
        normalize: bool | int = False,
        truncate: bool = True,
        separator: str | None = None,
        return_count: bool = False,
    ) -> Any:
        """The vector of a text, or of each of several, in their order.

        Args:
            input: A text, a list of texts, or a list of lists of token ids. A text is only text: names of control tokens
                in it are none. BOS and EOS are added where the model asks for them.
            normalize: True or 2 is the Euclidean norm, 1 the taxicab norm, p > 2 the p-norm, 0 scales to the range of
                int16; False or -1 leaves the vectors as they are.
            truncate: Use as much of an input as the context takes; without it, ValueError (`ContextWindowError`).
            separator: Cut a single text into several at this string.
            return_count: Answer with a pair, whose second part is the number of tokens evaluated.

        Returns:
            A list of n_embd floats per text. Without pooling (`pooling_type` 0, the default of most generating models) a
            list of such lists, one per token. With a ranking model a score, or a list of the classifier's outputs, never
            normalized. For a single text that alone, for a list a list. An input without any token gives zeros.

        Raises:
            EmbeddingUnsupportedError: The object was created without `embeddings=True` (a RuntimeError).
        """
        texts, single = _inputs(input, separator)
        vectors, count = self._vectors(texts, normalize, truncate=truncate)
        answer = vectors[0] if single else vectors
        return (answer, count) if return_count else answer

    def create_embedding(
        self,
        input: EmbeddingInput,  # noqa: A002
        model: str | None = None,
        normalize: bool | int = False,
        truncate: bool = True,
    ) -> CreateEmbeddingResponse:
        """The vectors in the shape of OpenAI's embeddings endpoint; `embed` describes the arguments."""
        texts, _ = _inputs(input)
        vectors, count = self._vectors(texts, normalize, truncate=truncate)
        return response(vectors, model=model or self.model_path, tokens=count)

    def _vectors(self, texts: Sequence[Any], normalize: bool | int, *, truncate: bool) -> tuple[list[Any], int]:
        """What `embed` gives for a list, and the number of tokens."""
        vectors, count = self._embedded([self._embedding_tokens(each) for each in texts], norm_mode(normalize), truncate=truncate)
        return [self._plain(vector) for vector in vectors], count

    def _embedding_tokens(self, text: str | Iterable[int]) -> NDArray[np.int32]:
        vocab = self._runtime.vocab
        if isinstance(text, str):
            return vocab.tokenize_array(text)
        if isinstance(text, bytes):
            raise TypeError("a text is bytes; decode it to a str")
        return vocab.check_all(list(text))

    def _embedded(self, inputs: Sequence[NDArray[np.int32]], mode: int, *, truncate: bool) -> tuple[list[NDArray[np.float32]], int]:
        runtime = self._runtime
        embedder = runtime.embedder
        fitting = [embedder.fit(tokens, truncate=truncate) for tokens in inputs]
        with runtime.turns.blocking() as turn:
            runtime.lend(turn)
            vectors = embedder.vectors(fitting)
        mode = NORM_MODE_NONE if embedder.ranks else mode  # scores are no directions
        return [normalized(vector, mode) if vector.size else vector for vector in vectors], sum(map(len, fitting))

    def _plain(self, vector: NDArray[np.float32]) -> Any:
        return float(vector[0]) if self._runtime.embedder.ranks and vector.size == 1 else vector.tolist()


def _inputs(given: Any, separator: str | None = None) -> tuple[list[Any], bool]:
    """The inputs as a list, and whether it was a single one: a text, or one list of token ids."""
    if isinstance(given, bytes | bytearray):
        raise TypeError("input is bytes; decode it to a str")
    if isinstance(given, str):
        return (given.split(separator), False) if separator else ([given], separator is None)
    try:
        inputs = list(given)
    except TypeError:
        raise TypeError(f"input must be a str, a list of str, or lists of token ids, not {type(given).__name__}") from None
    one = bool(inputs) and all(hasattr(each, "__index__") for each in inputs)
    return ([inputs], True) if one else (inputs, False)
