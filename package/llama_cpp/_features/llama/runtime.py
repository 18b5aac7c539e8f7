"""What stands behind one `Llama`: its native objects and the collaborators that drive them, made and closed together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from llama_cpp._engine.context import Context
from llama_cpp._engine.model import Model
from llama_cpp._engine.plan import CONTEXT_PADDING, padded
from llama_cpp._features.adapters import Adapters
from llama_cpp._features.cache.checkpoints import HybridCheckpointCache
from llama_cpp._features.embedding.embedder import Embedder
from llama_cpp._features.errors import GenerationUnsupportedError
from llama_cpp._features.generation.live import LiveSequence
from llama_cpp._features.generation.scores import ScoreRows
from llama_cpp._features.generation.turns import Turns
from llama_cpp._features.sampling.seeds import SeedSource
from llama_cpp._features.tokenizer.pieces import TokenPieces

if TYPE_CHECKING:
    import os

    from llama_cpp._engine.params import ContextParams, ModelParams
    from llama_cpp._features.cache.base import BaseLlamaCache
    from llama_cpp._features.generation.turns import Turn


@dataclass(frozen=True, kw_only=True)
class CheckpointSettings:
    """How many checkpoints are kept, after how many tokens of a prompt one is made, and where they lie."""

    max_checkpoints: int
    interval: int
    on_device: bool


EMBEDDED_TOGETHER = 64
"""How many texts are evaluated at once at most."""


class Runtime:
    """A model, its vocabulary, and (unless only the vocabulary was asked for) a context with its live sequence."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        model_params: ModelParams,
        context_params: ContextParams,
        *,
        seed: int | None,
        logits_all: bool,
        checkpoints: CheckpointSettings | None = None,
    ) -> None:
        self.model = Model.load(path, model_params)
        self.vocab = self.model.vocab
        self.pieces = TokenPieces(self.vocab.piece, self.vocab.is_eog)
        self.marked_pieces: dict[bytes, TokenPieces] = {}  # by the control tokens that they show
        self.seeds = SeedSource(seed)
        self.adapters = Adapters(self.model)
        self.context_params = context_params  # once there is a context: with what native code made of the sizes
        self.cache: BaseLlamaCache | None = None
        self._context: Context | None = None
        self._live: LiveSequence | None = None
        try:
            if not model_params.vocab_only:
                self._open_context(context_params, logits_all=logits_all)
            if self._live is not None and checkpoints is not None:
                self._keep_checkpoints(self._live, checkpoints)
        except BaseException:
            self.model.close()
            raise
        self.turns = Turns(self._context.clear_abort if self._context is not None else None)

    def _open_context(self, params: ContextParams, *, logits_all: bool) -> None:
        context = self._context = Context(self.model, context_params(params, self.model))
        self.context_params = replace(
            params, n_ctx=context.n_ctx, n_batch=context.n_batch, n_ubatch=context.n_ubatch, n_seq_max=context.n_seq_max
        )
        if context.memory is not None:
            scores = ScoreRows(context.n_ctx_seq, context.n_vocab) if logits_all else None
            self._live = LiveSequence(context, swa_full=params.swa_full is not False, scores=scores)

    @staticmethod
    def _keep_checkpoints(live: LiveSequence, settings: CheckpointSettings) -> None:
        """Where memory cannot be cut, and may be kept: a model that only embeds goes back to nothing."""
        if settings.max_checkpoints and live.kind.needs_checkpoints and not live.context.embeds:
            live.checkpoints = HybridCheckpointCache(live.context, settings.max_checkpoints, on_device=settings.on_device)
            live.checkpoint_interval = settings.interval

    @property
    def context(self) -> Context:
        """The context; `GenerationUnsupportedError` when only the vocabulary was loaded."""
        if self._context is None:
            raise GenerationUnsupportedError("the model was loaded with vocab_only=True; load it with its weights to evaluate tokens")
        return self._context

    @property
    def live(self) -> LiveSequence:
        """What the context holds; `GenerationUnsupportedError` for models that cannot generate."""
        if self._live is None:
            context = self.context
            kind = "an encoder" if context.memory is None else "no decoder"
            raise GenerationUnsupportedError(f"this model is {kind}: it computes embeddings and generates no text")
        return self._live

    @cached_property
    def embedder(self) -> Embedder:
        """What computes embeddings with the context."""
        return Embedder(self.context)

    def lend(self, turn: Turn) -> None:
        """Let `turn` use the context's memory for something else: what a live sequence held is forgotten."""
        if self._live is not None:
            self._live.take(turn)
            self._live.clear()

    def abort(self) -> None:
        """Stop the requests that are running; none is no matter."""
        if self.turns.abort() and self._context is not None and not self._context.closed:
            self._context.abort()

    @property
    def closed(self) -> bool:
        """Whether the native objects are freed."""
        return self.model.closed

    def close(self) -> None:
        """Free the native objects, when whoever uses them now is done."""
        with self.turns.executing:
            self.model.close()


def checkpoint_settings(count: int, interval: int, *, on_device: bool) -> CheckpointSettings:
    """What the constructor's arguments come to. No checkpoints for a count of 0; only those at prompts' ends for an interval of 0."""
    if count < 0 or interval < 0:
        raise ValueError(f"ctx_checkpoints and checkpoint_interval must be 0 or more, not {count} and {interval}")
    return CheckpointSettings(max_checkpoints=count, interval=interval, on_device=bool(on_device))


def context_params(params: ContextParams, model: Model) -> ContextParams:
    """What the caller left open, as the model needs it."""
    if params.kv_unified is None and model.has_encoder and model.has_decoder:
        params = replace(params, kv_unified=True)  # native code can plan no other
    return embedding_params(params, model) if params.embeddings else params


def embedding_params(params: ContextParams, model: Model) -> ContextParams:
    """How a context for embeddings is made: a text is evaluated in one piece, and several of them together.

    Where the caller left the number of sequences open, it is raised if that costs no memory: recurrent state has to be
    kept once per sequence, attention shares one cache. Sizes are raised to multiples of that number, as means need it.
    """
    texts = params.n_seq_max or 1
    shares = texts == 1 and not (model.is_recurrent or model.is_hybrid) and params.kv_unified is not False
    texts = EMBEDDED_TOGETHER if shares else texts
    n_batch = padded(max(params.n_batch or 0, params.n_ubatch or 0), texts)
    n_ctx = padded(model.n_ctx_train if params.n_ctx == 0 else params.n_ctx or CONTEXT_PADDING, texts)
    return replace(
        params,
        n_ctx=n_ctx,
        n_ubatch=n_batch if CONTEXT_PADDING % texts == 0 else min(n_batch, n_ctx),
        n_batch=n_batch,
        n_seq_max=texts,
        n_outputs_max=0,  # every token is an output
        kv_unified=True if shares else params.kv_unified,
    )
