"""A context: evaluating tokens with a model, and the logits and embeddings that come out.

One context is not thread-safe: whoever shares it between threads holds one re-entrant lock from a decode to the
last use of its outputs. Only `abort` may be called at any time. Sampling is the business of `sampler`.
"""

from __future__ import annotations

from ctypes import c_float
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from llama_cpp._native.bindings import ggml, llama

from .abort import AbortFlag, AbortRelay
from .adapter import PLAIN, Adaptation, set_control_vector, set_loras
from .batch import Batch, Outputs
from .changes import Changes, open_contexts
from .choices import check_cache
from .errors import (
    BatchSizeError,
    ContextCreateError,
    InvalidArgumentError,
    OutputIndexError,
    SequenceIdError,
)
from .handle import Handle
from .leaving import evaluations, park
from .logbridge import bridge
from .memory import Memory
from .outputs import OutputRows, float_view
from .params import ContextParams, native_context_params
from .plan import require_plan
from .returns import log_mark, raise_decode_failure, require_pointer
from .state import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from llama_cpp._native.pointers import Pointer

    from .batch_ext import BatchExt
    from .model import Model
    from .sampler import SamplerChain
    from .threadpool import ThreadPool
    from .vocab import Tokens


@dataclass(frozen=True, kw_only=True)
class Performance:
    """Native timings and counters; times stay zero unless the context was made with no_perf=False."""

    load_ms: float
    prompt_ms: float
    decode_ms: float
    n_prompt: int
    n_decode: int
    n_graphs_reused: int


class Context(Handle[llama.llama_context_p]):
    """An owned `llama_context` of a model, which it keeps alive.

    Outputs are views of native memory: valid until the next evaluation or close, so copy what has to last.
    """

    def __init__(self, model: Model, params: ContextParams | None = None) -> None:
        self.model = model
        self.vocab = model.vocab
        self.params = params = params or ContextParams()
        if model.params.vocab_only:
            raise ContextCreateError("a model loaded with vocab_only=True cannot be evaluated; load it with its weights")
        if params.ctx_type == llama.LLAMA_CONTEXT_TYPE_MTP and not model.params.load_mtp:
            raise ContextCreateError("a context for multi-token prediction needs a model that was loaded with load_mtp=True")
        self._flag = AbortFlag()
        self._stop = self._flag.set
        struct = native_context_params(params)
        check_cache(model, params.type_k)
        require_plan(model, struct)
        struct.abort_callback = self._flag.callback
        struct.abort_callback_data = self._flag.address
        mark = log_mark()
        pointer = llama.llama_init_from_model(model.pointer, struct)
        pointer = require_pointer(pointer, ContextCreateError, "the context could not be created", mark)
        self.changes = Changes()
        self._own(pointer, self.changes.before(llama.llama_free), parent=model, keep=(self._flag,))
        open_contexts[pointer] = self
        self._read_sizes(struct)
        self._one = Batch(1)
        self._one.fill(np.zeros(1, np.int32), pos=0)
        self._one_seq_id: int | None = None  # so that the first one is checked
        self._batch: Batch | None = None
        self._rows = OutputRows()
        self.device_states: dict[int, tuple[bytes, int]] = {}  # what `State` keeps on the device, by sequence, with its flags
        self.samplers: dict[int, SamplerChain] = {}  # those that `DeviceSampling` attached
        self._relay: AbortRelay | None = None
        self._encoded = not (model.has_encoder and model.has_decoder) and not model.params.no_alloc
        self._adaptation = PLAIN
        self._threadpools: tuple[ThreadPool | int, ...] = ()
        self._own_threads: tuple[int, int] | None = None  # thread counts to go back to from a pool's
        self._has_memory = llama.llama_get_memory(pointer) is not None

    @property
    def memory(self) -> Memory | None:
        """Operations on what was evaluated; None for models without memory (embedding encoders)."""
        return Memory(self) if self._has_memory else None

    @property
    def state(self) -> State:
        """Saving and restoring what memory holds."""
        return State(self)

    def _read_sizes(self, struct: llama.llama_context_params) -> None:
        """What native code made of the parameters, which may differ from what was asked."""
        pointer = self.pointer
        self.n_ctx = int(llama.llama_n_ctx(pointer))
        self.n_ctx_seq = int(llama.llama_n_ctx_seq(pointer))
        self.n_batch = int(llama.llama_n_batch(pointer))
        self.n_ubatch = int(llama.llama_n_ubatch(pointer))
        self.n_seq_max = int(llama.llama_n_seq_max(pointer))
        self.n_rs_seq = int(llama.llama_n_rs_seq(pointer))
        self.n_vocab = self.vocab.n_tokens
        self.pooling_type = int(llama.llama_pooling_type(pointer))
        self.kv_unified = bool(struct.kv_unified)
        self._embeddings = bool(struct.embeddings)
        limit = int(struct.n_outputs_max)
        self.n_outputs_max = limit if limit and not self.model.has_encoder else self.n_batch

    # ---- evaluation -------------------------------------------------------------------------------------------

    def decode_one(self, token: int, pos: int, seq_id: int = 0) -> None:
        """Evaluate one token and keep its logits. Raises as `decode` does.

        The path of generation loops: between two evaluations the caches hold the model's weights and none of Python's
        objects, so each frame and each write that is left out counts several times.
        """
        if not 0 <= token < self.n_vocab:
            self.vocab.check(token)
        if seq_id != self._one_seq_id:
            self._place_one(seq_id)
        one = self._one
        one.tokens[0] = token
        one.positions[0] = pos
        self._evaluate(llama.llama_decode, one)
        self._rows.last(1)

    def _place_one(self, seq_id: int) -> None:
        if not 0 <= seq_id < self.n_seq_max:
            self._refuse_sequence(seq_id)
        self._require_encoded()
        self._one.seq_ids[0, 0] = self._one_seq_id = seq_id

    def decode(self, tokens: Tokens, *, pos: int | None = None, seq_id: int = 0, outputs: Outputs = "last") -> None:
        """Evaluate tokens of one sequence, in chunks of at most `n_batch`.

        `pos` is the first position, None for "after what memory holds". `outputs` says which tokens leave rows;
        after several chunks only the rows of the last one remain (see `decode_chunks`). A context for embeddings
        outputs every token. Raises a `DecodeError` by return code, or an `InvalidArgumentError` before anything
        is evaluated.
        """
        for _ in self.decode_chunks(tokens, pos=pos, seq_id=seq_id, outputs=outputs):
            pass

    def decode_chunks(self, tokens: Tokens, *, pos: int | None = None, seq_id: int = 0, outputs: Outputs = "all") -> Iterator[slice]:
        """The same, step by step: yields the slice of `tokens` whose rows can be read now."""
        array = self.vocab.check_all(tokens)
        start = self._start(array, pos, seq_id)
        limit = self._chunk_limit(len(array), outputs)
        for begin in range(0, len(array), limit):
            chunk = array[begin : begin + limit]
            wanted = "none" if outputs == "last" and begin + limit < len(array) else outputs
            self._decode_chunk(chunk, start + begin, seq_id, "all" if self._embeddings else wanted)
            yield slice(begin, begin + len(chunk))

    def _start(self, tokens: NDArray[np.int32], pos: int | None, seq_id: int) -> int:
        self._owned()
        if not 0 <= seq_id < self.n_seq_max:
            self._refuse_sequence(seq_id)
        if not len(tokens):
            raise BatchSizeError("there are no tokens to evaluate")
        self._require_encoded()
        if pos is not None:
            return pos
        memory = self.memory
        return memory.pos_max(seq_id) + 1 if memory else 0

    def _chunk_limit(self, count: int, outputs: Outputs) -> int:
        if not self._has_memory or not self.causal:
            # without causal attention all tokens have to be evaluated together
            if count > self.n_ubatch:
                raise BatchSizeError(f"{count} tokens do not fit n_ubatch={self.n_ubatch}; this context has to evaluate them together")
            return count
        return min(self.n_batch, self.n_outputs_max) if outputs == "all" or self._embeddings else self.n_batch

    def _decode_chunk(self, tokens: NDArray[np.int32], pos: int, seq_id: int, outputs: Outputs) -> None:
        batch = self._batch
        if batch is None:
            batch = self._batch = Batch(max(self.n_batch, self.n_ubatch))
        batch.fill(tokens, pos=pos, seq_id=seq_id, outputs=outputs)
        self._evaluate(llama.llama_decode, batch)
        if outputs == "last":
            self._rows.last(len(tokens))
        else:
            self._rows.marked(batch.outputs[: len(tokens)])

    def decode_batch(self, batch: Batch) -> None:
        """Evaluate a batch that the caller filled: several sequences, embeddings, chosen outputs. Not split."""
        self._require_encoded()
        self._check_batch(batch, self.n_batch if self._has_memory and self.causal else self.n_ubatch)
        self._evaluate(llama.llama_decode, batch)
        self._rows.marked(batch.outputs[: batch.size])

    def encode(self, tokens: Tokens) -> None:
        """Run the encoder of an encoder-decoder or embedding model over at most `n_ubatch` tokens."""
        array = self.vocab.check_all(tokens)
        if not len(array):
            raise BatchSizeError("there are no tokens to evaluate")
        batch = Batch(len(array))
        batch.fill(array, pos=0, outputs="all")
        self.encode_batch(batch)

    def encode_batch(self, batch: Batch) -> None:
        """Run the encoder over a batch that the caller filled."""
        self._require_weights()
        self._check_batch(batch, self.n_ubatch)
        self._evaluate(llama.llama_encode, batch)
        self._encoded = True
        self._rows.marked(np.ones(batch.size, np.int8))

    def process(self, batch: BatchExt, *, encode: bool = False) -> None:
        """Decode or encode a growing batch. Not split."""
        together = encode or not self._has_memory or not self.causal
        limit, size = self.n_ubatch if together else self.n_batch, len(batch)
        (self._require_weights if encode else self._require_encoded)()
        if batch.context is not self:
            raise InvalidArgumentError("this batch was made for another context")
        if not 1 <= size <= limit:
            raise BatchSizeError(f"a batch of {size} entries cannot be evaluated at once; the limit is {limit}")
        marks = np.ones(size, np.int8) if encode or self._embeddings else batch.outputs
        if int(np.count_nonzero(marks)) > self.n_outputs_max:
            raise BatchSizeError(f"{np.count_nonzero(marks)} outputs were asked for; the context has n_outputs_max={self.n_outputs_max}")
        kind = llama.LLAMA_PROCESS_TYPE_ENCODE if encode else llama.LLAMA_PROCESS_TYPE_DECODE
        self._evaluate(lambda pointer, native: llama.llama_process(pointer, kind, native), batch)
        self._encoded = self._encoded or encode
        self._rows.marked(marks)

    def _evaluate(self, call: Callable[[llama.llama_context_p, Any], int], batch: Batch | BatchExt) -> None:
        pointer, running = self.pointer, evaluations.running
        self._rows.count = 0
        mark = bridge.count
        running[pointer] = self._stop
        try:
            if evaluations.closed:
                self._leave()
            code = call(pointer, batch.struct)
        finally:
            running.pop(pointer, None)
        if evaluations.closed:
            park()
        if code:
            self.changes.failed(code, batch)
            if self._relay is not None:
                self._relay.raise_pending()
            raise_decode_failure(code, mark)

    def _leave(self) -> NoReturn:
        evaluations.running.pop(self.pointer, None)
        park()

    def _check_batch(self, batch: Batch, limit: int) -> None:
        self._owned()
        size = batch.size
        if not 1 <= size <= min(limit, batch.capacity):
            raise BatchSizeError(f"a batch of {size} tokens cannot be evaluated at once; the limit is {min(limit, batch.capacity)}")
        if batch.has_tokens:
            self.vocab.check_all(batch.tokens[:size])
        batch.check_rows(self)
        widths = batch.n_seq_ids[:size]
        if int(widths.min()) < 1 or int(widths.max()) > batch.seq_ids.shape[1]:
            raise SequenceIdError("every token of a batch needs a sequence, and n_seq_ids no more than there is room for")
        used = batch.seq_ids[:size][np.arange(batch.seq_ids.shape[1]) < widths[:, None]]
        if int(used.min()) < 0 or int(used.max()) >= self.n_seq_max:
            self._refuse_sequence(int(used[(used < 0) | (used >= self.n_seq_max)][0]))
        wanted = size if self._embeddings else int(np.count_nonzero(batch.outputs[:size]))
        if wanted > self.n_outputs_max:
            raise BatchSizeError(f"{wanted} outputs were asked for; the context has n_outputs_max={self.n_outputs_max}")

    def _require_encoded(self) -> None:
        """A decoder without its encoder's output would end the process, and so would anything without weights."""
        self._require_weights()
        if not self._encoded:
            raise InvalidArgumentError("this model decodes what its encoder has seen: encode the input first")

    def _require_weights(self) -> None:
        if self.model.params.no_alloc:
            raise InvalidArgumentError("a model loaded with no_alloc=True has no weights to evaluate anything with; load it without")

    def _refuse_sequence(self, seq_id: int) -> NoReturn:
        raise SequenceIdError(f"sequence {seq_id} does not exist: this context has n_seq_max={self.n_seq_max}")

    def abort(self) -> None:
        """Stop the evaluation that is running now, or the next one: it raises `DecodeAborted`. From any thread.

        It holds until `clear_abort`, which whoever begins a request calls: cleared by each evaluation instead, an
        abort that comes between two of them would be lost.
        """
        self._flag.set()

    def clear_abort(self) -> None:
        """Let evaluations run again."""
        self._flag.clear()

    def set_abort_callback(self, callback: Callable[[], object] | None) -> None:
        """Ask `callback` during evaluations, about once per node of the graph, whether to stop: `DecodeAborted` follows.

        What it raises stops the evaluation too, and is raised in its place. `abort` works as before. None ends it.
        """
        self._relay = None if callback is None else AbortRelay(self._flag, callback)
        asked = self._flag.callback if self._relay is None else self._relay.callback
        llama.llama_set_abort_callback(self.pointer, asked, self._flag.address)

    def synchronize(self) -> None:
        """Wait until the last evaluation is finished; reading outputs does that too."""
        llama.llama_synchronize(self.pointer)

    # ---- outputs ----------------------------------------------------------------------------------------------

    @property
    def n_outputs(self) -> int:
        """How many rows the last evaluation left."""
        return self._rows.count

    @property
    def rows(self) -> OutputRows:
        """Which rows the last evaluation left: the same object as long as the context lives."""
        return self._rows

    def check_output(self, index: int) -> int:
        """The index itself; `OutputIndexError` when the last evaluation left no such row."""
        return self._rows.check(index)

    def logits(self, index: int = -1) -> NDArray[np.float32]:
        """The logits of one row, shape (n_vocab,). `index` is a slot of the batch, or counts rows from the end."""
        index, given = self._rows.check(index), self._rows.given
        if not self._has_memory and not self.model.is_diffusion:
            raise OutputIndexError("an encoder leaves no logits, only embeddings")
        if given is not None:
            return given
        rows = llama.llama_get_logits_ith(self.pointer, index)
        width = self.n_vocab if not self.samplers else int(llama.llama_get_sampled_logits_count_ith(self.pointer, index))
        return self._view(rows, 1, width, "logits").reshape(-1)

    def logits_rows(self) -> NDArray[np.float32]:
        """The logits of all rows in batch order, shape (n_outputs, n_vocab)."""
        if self._rows.given is not None:
            return self._rows.given[np.newaxis]
        rows = llama.llama_get_logits(self.pointer)
        return self._view(rows, self._rows.count, self.n_vocab, "logits")

    def embeddings(self, index: int = -1) -> NDArray[np.float32]:
        """The embedding of one token, shape (n_embd_out,). Only without pooling."""
        rows = llama.llama_get_embeddings_ith(self.pointer, self._rows.check(index))
        return self._view(rows, 1, self.model.n_embd_out, "embeddings").reshape(-1)

    def embeddings_rows(self) -> NDArray[np.float32]:
        """The embeddings of all rows in batch order, shape (n_outputs, n_embd_out). Only without pooling."""
        rows = llama.llama_get_embeddings(self.pointer)
        return self._view(rows, self._rows.count, self.model.n_embd_out, "embeddings")

    def embeddings_seq(self, seq_id: int = 0) -> NDArray[np.float32]:
        """The pooled embedding of a sequence, or its scores when the pooling is that of a reranker."""
        if not 0 <= seq_id < self.n_seq_max:
            self._refuse_sequence(seq_id)
        width = self.model.n_cls_out if self.pooling_type == llama.LLAMA_POOLING_TYPE_RANK else self.model.n_embd_out
        rows = llama.llama_get_embeddings_seq(self.pointer, seq_id)
        return self._view(rows, 1, width, "pooled embeddings").reshape(-1)

    def _view(self, first: Pointer[c_float], rows: int, columns: int, what: str) -> NDArray[np.float32]:
        if not first or not rows:
            raise OutputIndexError(f"the last evaluation left no {what}; check the context's embeddings and pooling_type")
        return float_view(first, rows, columns)

    # ---- settings ---------------------------------------------------------------------------------------------

    @property
    def n_threads(self) -> int:
        """Threads for single tokens."""
        return int(llama.llama_n_threads(self.pointer))

    @property
    def n_threads_batch(self) -> int:
        """Threads for several tokens at once."""
        return int(llama.llama_n_threads_batch(self.pointer))

    def set_threads(self, n_threads: int, n_threads_batch: int) -> None:
        """Change the thread counts; no more than an attached pool has."""
        for count in (n_threads, n_threads_batch):
            if not 1 <= count <= ggml.GGML_MAX_N_THREADS:
                raise InvalidArgumentError(f"{count} threads are out of range: 1 to {ggml.GGML_MAX_N_THREADS}")
        for pool, count in zip(self._threadpools, (n_threads, n_threads_batch), strict=False):
            if not isinstance(pool, int) and count > pool.n_threads:
                raise InvalidArgumentError(f"the attached thread pool has {pool.n_threads} threads, not {count}; detach it to use more")
        llama.llama_set_n_threads(self.pointer, n_threads, n_threads_batch)

    def attach_threadpool(self, pool: ThreadPool | int, batch: ThreadPool | int | None = None) -> None:
        """Evaluate with all threads of `pool`; several tokens at once with those of `batch`, where it is given.

        Addresses of native pools are taken too. Keeping those alive, and the context's thread counts within theirs, is up
        to the caller: a pool with fewer threads than the context asks for is written to beyond its end.
        """
        pools = [pool, pool if batch is None else batch]
        addresses = [each if isinstance(each, int) else each.pointer for each in pools]
        if not all(addresses):
            raise InvalidArgumentError("a thread pool is needed, not a null pointer")
        self.detach_threadpool()
        own = (self.n_threads, self.n_threads_batch)
        llama.llama_attach_threadpool(self.pointer, *(ggml.ggml_threadpool_t(address) for address in addresses))
        self._threadpools = tuple(pools)
        self.set_threads(*(count if isinstance(each, int) else each.n_threads for each, count in zip(pools, own, strict=True)))
        self._own_threads = own
        for each in pools:
            if not isinstance(each, int):
                each.used_by(self)

    def detach_threadpool(self) -> None:
        """Evaluate with the context's own threads again, as many as before."""
        llama.llama_detach_threadpool(self.pointer)
        self._threadpools = ()
        if self._own_threads is not None:
            own, self._own_threads = self._own_threads, None
            self.set_threads(*own)

    @property
    def threadpools(self) -> tuple[ThreadPool | int, ...]:
        """The pools that are attached: for single tokens, and for several at once."""
        return self._threadpools

    def set_embeddings(self, enabled: bool) -> None:
        """Whether evaluations output embeddings."""
        llama.llama_set_embeddings(self.pointer, enabled)
        self._embeddings = enabled

    @property
    def embeds(self) -> bool:
        """Whether evaluations output embeddings."""
        return self._embeddings

    @property
    def causal(self) -> bool:
        """Whether tokens only see those before them."""
        return bool(llama.llama_get_causal_attn(self.pointer))

    def set_causal_attention(self, enabled: bool) -> None:
        """Whether tokens only see those before them."""
        llama.llama_set_causal_attn(self.pointer, enabled)

    def adapt(self, adaptation: Adaptation) -> None:
        """Put adapters and a control vector in force for the evaluations to come, in place of those before.

        What memory holds was computed with the former ones; it is the caller's to forget it. Raises `AdapterError`.
        """
        if adaptation.loras != self._adaptation.loras:
            set_loras(self.pointer, adaptation)
            for lora, _ in adaptation.loras:
                lora.used_by(self)
        if adaptation.control is not self._adaptation.control:
            set_control_vector(self.pointer, adaptation.control)
        self._adaptation = adaptation

    @property
    def adaptation(self) -> Adaptation:
        """What is in force now."""
        return self._adaptation

    def performance(self) -> Performance:
        """Timings and counters since the last reset."""
        data = llama.llama_perf_context(self.pointer)
        return Performance(
            load_ms=data.t_load_ms,
            prompt_ms=data.t_p_eval_ms,
            decode_ms=data.t_eval_ms,
            n_prompt=data.n_p_eval,
            n_decode=data.n_eval,
            n_graphs_reused=data.n_reused,
        )

    def reset_performance(self) -> None:
        """Start counting anew."""
        llama.llama_perf_context_reset(self.pointer)
