"""`LlamaEmbedding`: a `Llama` set up for vectors and rankings."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from llama_cpp._features.embedding.normalization import NORM_MODE_EUCLIDEAN, NORM_MODE_NONE
from llama_cpp._features.embedding.reranking import TELLS_TEXTS_APART, TEMPLATE_NAME, PairFormat, tells_texts_apart
from llama_cpp._features.embedding.responses import formatted, require_format
from llama_cpp._features.errors import EmbeddingUnsupportedError

from .llama import Llama

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from .embedding_methods import EmbeddingInput


class LlamaEmbedding(Llama):
    """A model for embeddings: many texts at a time, vectors of norm 1 by default.

    Args:
        n_ctx: Tokens of context, 0 for what the model was trained with.
        n_batch, n_ubatch: Tokens evaluated at once, and the longest text where vectors are pooled.
        pooling_type: -1 leaves it to the model; 0 none, 1 mean, 2 first token, 3 last token, 4 ranking.
        kwargs: Whatever `Llama` takes. `embeddings` and `kv_unified` are on.
    """

    def __init__(  # noqa: PLR0917 - positional in its lineage
        self,
        model_path: str | os.PathLike[str],
        n_ctx: int = 0,
        n_batch: int = 512,
        n_ubatch: int = 512,
        pooling_type: int = -1,
        n_gpu_layers: int | str = 0,
        verbose: bool = True,
        **kwargs: Any,
    ) -> None:
        own: dict[str, Any] = {
            "n_ctx": n_ctx,
            "n_batch": n_batch,
            "n_ubatch": n_ubatch,
            "pooling_type": pooling_type,
            "n_gpu_layers": n_gpu_layers,
            "verbose": verbose,
        }
        super().__init__(model_path, **{**kwargs, **own, "embeddings": True, "kv_unified": True})

    def embed(
        self,
        input: EmbeddingInput,  # noqa: A002
        normalize: bool | int = NORM_MODE_EUCLIDEAN,
        truncate: bool = True,
        separator: str | None = None,
        return_count: bool = False,
    ) -> Any:
        """As `Llama.embed`, but normalized by default."""
        return super().embed(input, normalize, truncate, separator, return_count)

    def create_embedding(  # type: ignore[override]
        self,
        input: EmbeddingInput,  # noqa: A002
        model: str | None = None,
        normalize: bool | int = NORM_MODE_EUCLIDEAN,
        output_format: str = "json",
        truncate: bool = True,
    ) -> Any:
        """The vectors as "json" (OpenAI's shape), "json+" (with a matrix of cosine similarities), or "array" (a list)."""
        require_format(output_format)
        return formatted(super().create_embedding(input, model, normalize, truncate), output_format)

    def rank(self, query: str, documents: Sequence[str]) -> list[float]:
        """How well each document answers the query, by a ranking model: higher is better, in no particular range.

        The model's own `rerank` template puts query and document together, where it has one. With several outputs the
        first one counts. Of a pair that is too long the document's end is left out.

        Raises:
            EmbeddingUnsupportedError: The model does not rank, or the pooling is another one (a RuntimeError).
            ContextWindowError: The query alone is too long (a ValueError).
        """
        runtime = self._runtime
        if not runtime.embedder.ranks or runtime.model.n_cls_out < 1:
            raise EmbeddingUnsupportedError("ranking needs a ranking model and pooling_type=4 (LLAMA_POOLING_TYPE_RANK)")
        if isinstance(documents, str):
            raise TypeError("documents must be a list of str, not a single str")
        if tells_texts_apart(runtime.model.metadata):
            warnings.warn(f"LlamaEmbedding: {TELLS_TEXTS_APART}", UserWarning, stacklevel=2)
        pairs = PairFormat(runtime.vocab, runtime.model.chat_template(TEMPLATE_NAME))
        inputs = [pairs.fitting(query, document, runtime.embedder.limit) for document in documents]
        vectors, _ = self._embedded(inputs, NORM_MODE_NONE, truncate=False)
        return [float(vector[0]) for vector in vectors]
