"""`LlamaContext`: evaluating batches, and the settings of a context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_cpp._engine import struct_params
from llama_cpp._engine.adapter import Adaptation
from llama_cpp._engine.context import Context
from llama_cpp._engine.errors import BatchSizeError, DecodeAborted, InvalidArgumentError
from llama_cpp._native.bindings import llama, llama_ext

from .memory_methods import MemoryMethods
from .output_methods import OutputMethods
from .state_methods import StateMethods

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from typing_extensions import Self

    from llama_cpp._engine.params import ContextParams
    from llama_cpp._engine.threadpool import ThreadPool

    from .batch import LlamaBatch
    from .batch_ext import LlamaBatchExt
    from .context_core import Ledger
    from .lora import LlamaLoraAdapter
    from .model import LlamaModel

LlamaDecodeAbort = DecodeAborted
"""An evaluation was stopped: by `abort`, or by an abort callback."""


class LlamaContext(MemoryMethods, StateMethods, OutputMethods):
    """A context of `model`, freed by `close()` or with the model.

    Args:
        model: The model.
        params: A struct of `llama_context_default_params`, or `ContextParams`; None for llama.cpp's defaults.
        verbose: Kept as an attribute, as `LlamaModel` has it.

    Raises ValueError when a context with these parameters cannot be made. As the `_ctx` of a `Llama` it shares that one's lock,
    and tells it what becomes of the memory: a request evaluates again what was changed under it.
    """

    def __init__(self, model: LlamaModel, params: ContextParams | llama.llama_context_params | None = None, verbose: bool = True) -> None:
        super().__init__(model, Context(model.engine, struct_params.context_params(params)), verbose=verbose, owned=True)
        self.params = params if params is not None else self.params

    @classmethod
    def of(cls, model: LlamaModel, context: Context, *, lock: threading.RLock, ledger: Ledger | None) -> Self:
        """The face of a context that belongs to a `Llama`."""
        made = cls.__new__(cls)
        super().__init__(made, model, context, verbose=model.verbose, owned=False)
        made._belong(lock, ledger)  # noqa: SLF001 - its own class
        return made

    def close(self) -> None:
        """Free the context. Of a `Llama`'s own it does nothing."""
        if self._owned:
            self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # ---- evaluation -------------------------------------------------------------------------------------------

    def decode(self, batch: LlamaBatch) -> int:
        """Evaluate a batch; returns 0. Raises a `DecodeError` by return code, `LlamaDecodeAbort` when it was stopped."""
        with self._lock:
            self._evaluate(batch, lambda: self.engine.decode_batch(batch.engine))
        return 0

    def encode(self, batch: LlamaBatch) -> int:
        """Run the encoder over a batch; returns 0. Raises as `decode` does."""
        with self._lock:
            self._evaluate(batch, lambda: self.engine.encode_batch(batch.engine))
        return 0

    def process(self, batch: LlamaBatchExt, *, encode: bool = False) -> int:
        """Decode or encode a batch that was made for this context; returns 0. Raises as `decode` does."""
        with self._changing():
            self.engine.process(batch.engine, encode=encode)
        return 0

    def _evaluate(self, batch: LlamaBatch, evaluate: Callable[[], None]) -> None:
        done = False
        try:
            evaluate()
            done = True
        finally:
            if self._ledger is not None:
                self._ledger.evaluated(batch.engine if done else None)

    def abort(self) -> None:
        """Stop the evaluation that runs now, or the next one; from any thread. Without effect on a `Llama`'s own between requests."""
        self.engine.abort()

    def clear_abort(self) -> None:
        """Let evaluations run again after `abort`."""
        self.engine.clear_abort()

    def set_abort_callback(self, abort_callback: Callable[[Any], object] | None, abort_callback_data: Any = None) -> None:
        """Ask a function during evaluations whether to stop; it is called with `abort_callback_data`. None ends it.

        What it raises stops the evaluation, and is raised by it.
        """
        with self._lock:
            self.engine.set_abort_callback(None if not abort_callback else lambda: abort_callback(abort_callback_data))

    def synchronize(self) -> None:
        """Wait until the last evaluation is finished."""
        self.engine.synchronize()

    def graph_reserve(self, n_tokens: int, n_seqs: int, n_outputs: int) -> int:
        """Build and reserve a graph for so many tokens; returns the address of the `ggml_cgraph`, valid until the next evaluation."""
        if not 1 <= n_seqs <= self.engine.n_seq_max or not 1 <= n_outputs <= n_tokens <= self.engine.n_ubatch or n_tokens % n_seqs:
            raise BatchSizeError(
                f"a graph of {n_tokens} tokens, {n_seqs} sequences and {n_outputs} outputs does not fit this context: at most "
                f"n_ubatch={self.engine.n_ubatch} tokens, equally many for each of n_seq_max={self.engine.n_seq_max} sequences"
            )
        with self._lock:
            return llama_ext.llama_graph_reserve(self.engine.pointer, n_tokens, n_seqs, n_outputs) or 0

    # ---- sizes and settings -----------------------------------------------------------------------------------

    def n_ctx(self) -> int:
        """How many tokens fit."""
        return self.engine.n_ctx

    def n_ctx_seq(self) -> int:
        """How many tokens fit in one sequence."""
        return self.engine.n_ctx_seq

    def n_batch(self) -> int:
        """The most tokens that `decode` takes."""
        return self.engine.n_batch

    def n_ubatch(self) -> int:
        """The most tokens that are computed together."""
        return self.engine.n_ubatch

    def n_seq_max(self) -> int:
        """How many sequences there are."""
        return self.engine.n_seq_max

    def n_rs_seq(self) -> int:
        """How many steps recurrent state can go back."""
        return self.engine.n_rs_seq

    def n_threads(self) -> int:
        """Threads for single tokens."""
        return self.engine.n_threads

    def n_threads_batch(self) -> int:
        """Threads for several tokens at once."""
        return self.engine.n_threads_batch

    def pooling_type(self) -> int:
        """`llama_pooling_type`."""
        return self.engine.pooling_type

    def set_n_threads(self, n_threads: int, n_threads_batch: int) -> None:
        """Change the thread counts."""
        with self._lock:
            self.engine.set_threads(n_threads, n_threads_batch)

    def attach_threadpool(self, threadpool: ThreadPool | int, threadpool_batch: ThreadPool | int | None = None) -> None:
        """Evaluate with the threads of a pool, as `Llama.attach_threadpool` describes it."""
        with self._lock:
            self.engine.attach_threadpool(threadpool, threadpool_batch)

    def detach_threadpool(self) -> None:
        """Evaluate with the context's own threads again."""
        with self._lock:
            self.engine.detach_threadpool()

    def set_causal_attn(self, causal_attn: bool) -> None:
        """Whether tokens only see those before them. What memory holds was computed the other way."""
        with self._changing():
            self.engine.set_causal_attention(causal_attn)

    def get_causal_attn(self) -> bool:
        """Whether tokens only see those before them."""
        return self.engine.causal

    def set_embeddings(self, embeddings: bool) -> None:
        """Whether evaluations leave embeddings."""
        with self._lock:
            self.engine.set_embeddings(embeddings)

    def set_warmup(self, warmup: bool) -> None:
        """Whether the next evaluations touch all weights, to bring them into memory. Their results are of no use."""
        with self._changing():
            llama.llama_set_warmup(self.engine.pointer, warmup)

    def set_adapters_lora(self, adapters: Mapping[LlamaLoraAdapter, float]) -> None:
        """Put these adapters in force with their scales, in place of those before. What memory holds is forgotten.

        A `Llama` chooses adapters for each request, so it refuses this on its own context: see `active_loras`.
        """
        if self._ledger is not None:
            raise InvalidArgumentError("this context belongs to a Llama; use load_lora and active_loras")
        loras = tuple((each.engine, float(scale)) for each, scale in adapters.items())
        with self._changing():
            self.engine.adapt(Adaptation(loras=loras, control=self.engine.adaptation.control))
            if self.engine.memory is not None:
                self.engine.memory.clear(data=False)

    # ---- timings ----------------------------------------------------------------------------------------------

    def perf_context(self) -> llama.llama_perf_context_data:
        """Timings and counters; times are zero unless the context was made with no_perf=False."""
        return llama.llama_perf_context(self.engine.pointer)

    def reset_timings(self) -> None:
        """Start counting anew."""
        self.engine.reset_performance()

    def print_timings(self) -> None:
        """Log the timings."""
        llama.llama_perf_context_print(self.engine.pointer)

    @staticmethod
    def default_params() -> llama.llama_context_params:
        """A struct with llama.cpp's defaults, to be changed and handed to the constructor."""
        return llama.llama_context_default_params()
