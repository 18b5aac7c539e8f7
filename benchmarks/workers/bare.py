"""The loop to measure against: ctypes, llama_decode and llama.cpp's own samplers, and nothing of the package."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from benchmarks.protocol import DEFAULT_CHAIN, GREEDY, UNSAMPLED, Reading, Ready, Setup, Stopwatch, Task
from benchmarks.workers.native import Batch, Native
from benchmarks.workers.serve import serve

Tokens: TypeAlias = "ctypes.Array[ctypes.c_int32]"


@dataclass(frozen=True, kw_only=True)
class _Loaded:
    model: int
    vocab: int
    context: int
    memory: int


class BareLoop:
    """Holds models and contexts ready, and times bare loops over them."""

    def __init__(self, native: Native) -> None:
        self._native = native  # keeps the log callback alive
        self._lib = native.lib
        self._loaded: dict[Setup, _Loaded] = {}

    def prepare(self, setup: Setup) -> Ready:
        """Load the model and make the context, with llama.cpp's defaults but for what the setup names."""
        lib = self._lib
        params = lib.llama_context_default_params()
        params.n_ctx = setup.n_ctx or params.n_ctx
        params.n_threads = setup.n_threads or params.n_threads
        params.n_threads_batch = setup.n_threads_batch or params.n_threads
        if setup not in self._loaded:
            model = lib.llama_model_load_from_file(setup.model.encode(), lib.llama_model_default_params())
            context = lib.llama_init_from_model(model, params) if model else None
            if not context:
                raise RuntimeError(f"llama.cpp could not load {setup.model}")
            self.borrow(setup, model=model, context=context)
        return Ready(n_ctx=params.n_ctx, n_threads=params.n_threads, n_threads_batch=params.n_threads_batch, version="")

    def borrow(self, setup: Setup, *, model: int, context: int) -> None:
        """Use a context that is there."""
        lib = self._lib
        vocab, memory = lib.llama_model_get_vocab(model), lib.llama_get_memory(context)
        self._loaded[setup] = _Loaded(model=model, vocab=vocab, context=context, memory=memory)

    def forget(self) -> None:
        """Leave borrowed contexts to their owners."""
        self._loaded.clear()

    def measure(self, task: Task) -> Reading:
        """Time the loop that the task names."""
        loaded = self._loaded[task.setup]
        if task.texts:
            return self._embedded(loaded, task)
        prompt = self._tokenize(loaded, task.prompt, special=bool(task.chat))
        sampler = 0 if task.sampling == UNSAMPLED else self._sampler(task)
        watch, tokens = Stopwatch(), list[int]()
        for _ in range(task.calls):
            self._lib.llama_memory_clear(loaded.memory, True)
            if sampler:
                self._lib.llama_sampler_reset(sampler)
                tokens = self._sampled(loaded, prompt, task.tokens, sampler, watch)
            else:
                self._unsampled(loaded, prompt, task.tokens, watch)
        text, ended = "", False
        if sampler:
            self._lib.llama_sampler_free(sampler)
            text, ended = self._text(loaded, tokens), any(self._lib.llama_vocab_is_eog(loaded.vocab, token) for token in tokens)
        count = task.tokens * task.calls
        return Reading(seconds=watch.seconds, cpu_seconds=watch.cpu_seconds, tokens=count, text=text, ended=ended)

    def release(self) -> None:
        """Free everything."""
        for loaded in self._loaded.values():
            self._lib.llama_free(loaded.context)
            self._lib.llama_model_free(loaded.model)
        self._loaded.clear()

    def _embedded(self, loaded: _Loaded, task: Task) -> Reading:
        """All texts in one batch, a sequence each, tokenized first; the vectors are copied into Python lists."""
        lib, watch, count = self._lib, Stopwatch(), 0
        width = lib.llama_model_n_embd(loaded.model)
        room = sum(len(text.encode()) + 2 for text in task.texts)
        batch = lib.llama_batch_init(room, 0, 1)
        try:
            for _ in range(task.calls):
                with watch:
                    lib.llama_memory_clear(loaded.memory, False)
                    count = self._fill(batch, [self._tokenize(loaded, text) for text in task.texts])
                    _check(lib.llama_decode(loaded.context, batch))
                    for sequence in range(len(task.texts)):
                        lib.llama_get_embeddings_seq(loaded.context, sequence)[:width]
        finally:
            lib.llama_batch_free(batch)
        return Reading(seconds=watch.seconds, cpu_seconds=watch.cpu_seconds, tokens=count * task.calls)

    @staticmethod
    def _fill(batch: Batch, texts: list[Tokens]) -> int:
        at = 0
        for sequence, tokens in enumerate(texts):
            for position, token in enumerate(tokens):
                batch.token[at], batch.pos[at], batch.n_seq_id[at], batch.logits[at] = token, position, 1, 1
                batch.seq_id[at][0] = sequence
                at += 1
        batch.n_tokens = at
        return at

    def _sampled(self, loaded: _Loaded, prompt: Tokens, count: int, sampler: int, watch: Stopwatch) -> list[int]:
        context, decode, sample = loaded.context, self._lib.llama_decode, self._lib.llama_sampler_sample
        one = (ctypes.c_int32 * 1)()
        whole, single = self._lib.llama_batch_get_one(prompt, len(prompt)), self._lib.llama_batch_get_one(one, 1)
        tokens: list[int] = []
        with watch:
            status = decode(context, whole)
            token = sample(sampler, context, -1)
            tokens.append(token)
            for _ in range(count - 1):
                one[0] = token
                status |= decode(context, single)
                token = sample(sampler, context, -1)
                tokens.append(token)
        _check(status)
        return tokens

    def _unsampled(self, loaded: _Loaded, prompt: Tokens, count: int, watch: Stopwatch) -> None:
        context, decode, wait = loaded.context, self._lib.llama_decode, self._lib.llama_synchronize
        vocabulary = self._lib.llama_vocab_n_tokens(loaded.vocab)
        one = (ctypes.c_int32 * 1)()
        whole, single = self._lib.llama_batch_get_one(prompt, len(prompt)), self._lib.llama_batch_get_one(one, 1)
        with watch:
            status = decode(context, whole)
            wait(context)
            for index in range(count - 1):
                one[0] = (index * 7919 + 101) % vocabulary
                status |= decode(context, single)
                wait(context)
        _check(status)

    def _sampler(self, task: Task) -> int:
        lib = self._lib
        steps: dict[str, tuple[Callable[[], int], ...]] = {
            GREEDY: (lib.llama_sampler_init_greedy,),
            DEFAULT_CHAIN: (
                lambda: lib.llama_sampler_init_top_k(40),
                lambda: lib.llama_sampler_init_top_p(0.95, 1),
                lambda: lib.llama_sampler_init_min_p(0.05, 1),
                lambda: lib.llama_sampler_init_temp(0.8),
                lambda: lib.llama_sampler_init_dist(task.seed),
            ),
        }
        chain: int = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
        for make in steps[task.sampling]:
            lib.llama_sampler_chain_add(chain, make())
        return chain

    def _tokenize(self, loaded: _Loaded, text: str, *, special: bool = False) -> Tokens:
        data = text.encode()
        room = (ctypes.c_int32 * (len(data) + 2))()
        count = self._lib.llama_tokenize(loaded.vocab, data, len(data), room, len(room), True, special)
        tokens: Tokens = (ctypes.c_int32 * count)(*room[:count])
        return tokens

    def _text(self, loaded: _Loaded, tokens: list[int]) -> str:
        array = (ctypes.c_int32 * len(tokens))(*tokens)
        room = ctypes.create_string_buffer(64 * len(tokens))
        length = self._lib.llama_detokenize(loaded.vocab, array, len(tokens), room, len(room), False, False)
        return room.raw[: max(length, 0)].decode(errors="replace")


def _check(status: int) -> None:
    if status:
        raise RuntimeError(f"llama_decode returned {status}")


def main() -> None:
    """Serve, with the libraries of the folder that the first argument names."""
    serve(BareLoop(Native(Path(sys.argv[1]))))
