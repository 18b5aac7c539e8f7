"""The part of `Llama` that shows what lies below it: `_model`, `_ctx` and `_batch`, faces of its own native objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from llama_cpp._features.internals.batch import LlamaBatch
from llama_cpp._features.internals.context import LlamaContext
from llama_cpp._features.internals.model import LlamaModel

from .core import LlamaCore

if TYPE_CHECKING:
    from llama_cpp._engine.batch import Batch
    from llama_cpp._features.generation.live import LiveSequence

    from .runtime import Runtime


class LiveLedger:
    """Keeps a live sequence true to a memory that is changed under it."""

    def __init__(self, live: LiveSequence) -> None:
        self._live = live

    def memory_changed(self, keep: int) -> None:
        """At most the first `keep` tokens are where they were."""
        self._live.distrust(keep)

    def can_keep(self, positions: int) -> bool:
        """Whether memory that is cut there still computes what it would without the rest."""
        return self._live.can_cut(positions)

    def evaluated(self, batch: Batch | None) -> None:
        """Tokens that follow on what sequence 0 held belong to it now; after anything else nothing is sure."""
        live = self._live
        if batch is None:
            live.distrust(0)
            return
        size = batch.size
        own = batch.seq_ids[:size, 0] == 0
        if not own.any() and int(batch.n_seq_ids[:size].max()) == 1:
            return
        follows = own.all() and batch.embeddings is None and np.array_equal(batch.positions[:size], live.length + np.arange(size))
        if follows and live.length + size <= live.capacity and live.scores is None:
            live.follow(batch.tokens[:size])
        else:
            live.distrust(0)


class NativeViews:
    """The faces of one runtime's objects, each made when it is first asked for."""

    def __init__(self, runtime: Runtime, *, verbose: bool) -> None:
        self._runtime = runtime
        self._context: LlamaContext | None = None
        self._batch: LlamaBatch | None = None
        self.model = LlamaModel.of(runtime.model, verbose=verbose)

    @property
    def context(self) -> LlamaContext:
        """The context; GenerationUnsupportedError when only the vocabulary was loaded."""
        if self._context is None:
            runtime = self._runtime
            ledger = LiveLedger(runtime.live) if runtime.context.memory is not None else None
            self._context = LlamaContext.of(self.model, runtime.context, lock=runtime.turns.executing, ledger=ledger)
        return self._context

    @property
    def batch(self) -> LlamaBatch:
        """A batch of tokens, as large as the context takes."""
        if self._batch is None:
            context = self._runtime.context
            self._batch = LlamaBatch(context.n_batch, 0, context.n_seq_max, verbose=False)
        return self._batch


class NativeViewMethods(LlamaCore):
    """For programs that know the objects below: what they change is noticed, and evaluated again where that is needed."""

    verbose: bool
    _views: NativeViews | None = None

    def _own_views(self) -> NativeViews:
        runtime = self._runtime
        if self._views is None:
            self._views = NativeViews(runtime, verbose=self.verbose)
        return self._views

    @property
    def _model(self) -> LlamaModel:
        return self._own_views().model

    @property
    def _ctx(self) -> LlamaContext:
        return self._own_views().context

    @property
    def _batch(self) -> LlamaBatch:
        return self._own_views().batch
