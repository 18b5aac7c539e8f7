"""The part of `Llama` that works with tokens: evaluating, sampling and generating them, without text."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from llama_cpp._features.errors import EmptyPromptError
from llama_cpp._features.generation.decoder_start import begin
from llama_cpp._features.generation.live import as_tokens
from llama_cpp._features.generation.loop import generate
from llama_cpp._features.grammar.definition import grammar_from
from llama_cpp._features.sampling.arguments import sampling_from
from llama_cpp._features.sampling.chain import build_chain
from llama_cpp._features.sampling.defaults import (
    MIN_P,
    MIROSTAT_ETA,
    MIROSTAT_MODE,
    MIROSTAT_TAU,
    PENALTY_LAST_N,
    REPEAT_PENALTY,
    TEMPERATURE,
    TOP_K,
    TOP_P,
    XTC_PROBABILITY,
    XTC_THRESHOLD,
)  # fmt: skip
from llama_cpp._features.sampling.parameters import DRY_SEQUENCE_BREAKERS
from llama_cpp._features.sampling.seeds import SeedSource, seed_value
from llama_cpp._features.sampling.steps import Participants, Steps

from .core import LlamaCore

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from numpy.typing import NDArray

    from llama_cpp._engine.adapter import Adaptation
    from llama_cpp._engine.sampler import SamplerChain
    from llama_cpp._engine.threadpool import ThreadPool
    from llama_cpp._features.sampling.callbacks import LogitsProcessors, StoppingCriterions
    from llama_cpp._features.sampling.parameters import SamplingParams


class GenerationMethods(LlamaCore):
    """Token ids in, token ids out. The attributes show what the context holds."""

    def eval(self, tokens: Sequence[int], active_loras: Any = None, control_vector: Any = None, copy_logits: bool = True) -> None:  # noqa: ARG002
        """Evaluate tokens after those that the context holds. `scores` reads their logits, `sample` draws from them.

        With other adapters (`create_completion` describes them) than it was filled with, the context is emptied first.
        `copy_logits` makes no difference: logits are copied when `scores` is read. Raises `ContextWindowError` when
        the tokens do not fit, and `DecodeAborted` after `abort()`.
        """
        runtime = self._runtime
        live, checked = runtime.live, as_tokens(runtime.vocab.check_all(tokens))
        adaptation = runtime.adapters.select(active_loras, control_vector)
        with runtime.turns.blocking() as turn:
            turn.adaptation = adaptation
            live.take(turn)
            try:
                live.extend(checked, turn)
            except BaseException as error:
                live.settle(error)
                raise

    # fmt: off
    def sample(  # noqa: PLR0917 - positional in both lineages
        self, top_k: int = TOP_K, top_p: float = TOP_P, min_p: float = MIN_P, typical_p: float = 1.0, temp: float = TEMPERATURE,
        dynatemp_range: float = 0.0, dynatemp_exponent: float = 1.0, top_n_sigma: float = -1.0,
        min_keep: int = 0, penalty_last_n: int = PENALTY_LAST_N, repeat_penalty: float = REPEAT_PENALTY, frequency_penalty: float = 0.0,
        present_penalty: float = 0.0, mirostat_mode: int = MIROSTAT_MODE, mirostat_eta: float = MIROSTAT_ETA,
        mirostat_tau: float = MIROSTAT_TAU,
        xtc_probability: float = XTC_PROBABILITY, xtc_threshold: float = XTC_THRESHOLD, dry_multiplier: float = 0.0, dry_base: float = 1.75,
        dry_allowed_length: int = 2, dry_penalty_last_n: int = 64, dry_seq_breakers: Sequence[str] = DRY_SEQUENCE_BREAKERS,
        adaptive_target: float = -1.0, adaptive_decay: float = 0.9, ignore_eos: bool = False,
        logit_bias: Mapping[int, float] | None = None, logits_processor: LogitsProcessors = None, grammar: Any = None,
        grammar_lazy: bool = False,
        idx: int | None = None, seed: int | None = None, reasoning_budget: int = -1, reasoning_start: str = "<think>",
        reasoning_end: str = "</think>", reasoning_budget_message: str | None = None, reasoning_start_in_prompt: bool = False,
        reasoning_start_max_tokens: int = 32, presence_penalty: float = 0.0, tfs_z: float = 1.0, penalize_nl: bool = True,
    ) -> int:
        # fmt: on
        """Draw a token from the logits of the last evaluation (`idx` -1 or None: its last row). Evaluates nothing.

        Penalties see the tokens that the context holds. `create_completion` describes the other arguments.
        """
        given, runtime = locals(), self._runtime
        params = sampling_from(given, recommended=self._recommended)
        participants = Participants.from_arguments(given)
        constraint = grammar_from(grammar, lazy=grammar_lazy)
        live, index = runtime.live, -1 if idx is None else idx
        with runtime.turns.blocking(), self._chain(params, live.seen) as chain:
            if constraint is not None:
                constraint.constrain(chain, runtime.vocab, lazy=grammar_lazy)
            if not participants.present:
                return chain.sample(runtime.context, index)
            return Steps(runtime.context, chain, lambda: live.seen, participants, index=index)()

    # fmt: off
    def generate(  # noqa: PLR0917 - as above
        self, tokens: Sequence[int], top_k: int = TOP_K, top_p: float = TOP_P, min_p: float = MIN_P, typical_p: float = 1.0,
        temp: float = TEMPERATURE, dynatemp_range: float = 0.0, dynatemp_exponent: float = 1.0, top_n_sigma: float = -1.0,
        min_keep: int = 0, penalty_last_n: int = PENALTY_LAST_N, repeat_penalty: float = REPEAT_PENALTY, frequency_penalty: float = 0.0,
        present_penalty: float = 0.0, reset: bool = True, mirostat_mode: int = MIROSTAT_MODE,
        mirostat_tau: float = MIROSTAT_TAU, mirostat_eta: float = MIROSTAT_ETA,
        xtc_threshold: float = XTC_THRESHOLD, xtc_probability: float = XTC_PROBABILITY, dry_multiplier: float = 0.0, dry_base: float = 1.75,
        dry_allowed_length: int = 2, dry_penalty_last_n: int = 64, dry_seq_breakers: Sequence[str] = DRY_SEQUENCE_BREAKERS,
        adaptive_target: float = -1.0, adaptive_decay: float = 0.9, use_infill: bool = False, ignore_eos: bool = False,
        logit_bias: Mapping[int, float] | None = None, logits_processor: LogitsProcessors = None,
        stopping_criteria: StoppingCriterions = None, grammar: Any = None,
        grammar_lazy: bool = False, seed: int | None = None, active_loras: Any = None, control_vector: Any = None,
        reasoning_budget: int = -1, reasoning_start: str = "<think>", reasoning_end: str = "</think>",
        reasoning_budget_message: str | None = None, reasoning_start_in_prompt: bool = False, reasoning_start_max_tokens: int = 32,
        presence_penalty: float = 0.0, tfs_z: float = 1.0, penalize_nl: bool = True,
    ) -> Generator[int, Sequence[int] | None, None]:
        # fmt: on
        """Yield tokens that continue `tokens`, until the context is full or `abort()` is called.

        It does not end at an end-of-text token: that is for the caller to decide. Values sent into the generator
        are appended as tokens. With `reset` the tokens are the whole prompt, of which the context may already hold
        a beginning; without it they follow what the context holds. `create_completion` describes the other arguments.
        """
        given = locals()
        params = sampling_from(given, recommended=self._recommended)
        prompt = as_tokens(self._runtime.vocab.check_all(tokens))
        if reset and not len(prompt):
            raise EmptyPromptError("there are no tokens to continue; give at least one")
        participants = Participants.from_arguments(given)
        adaptation = self._runtime.adapters.select(active_loras, control_vector)
        constraint = grammar_from(grammar, lazy=grammar_lazy)

        def constrain(chain: SamplerChain) -> None:
            if constraint is not None:
                constraint.constrain(chain, self._runtime.vocab, lazy=grammar_lazy)

        return self._tokens(params, participants, constrain, adaptation, prompt, reset=reset)

    def _tokens(
        self,
        params: SamplingParams,
        participants: Participants,
        constrain: Callable[[SamplerChain], None],
        adaptation: Adaptation,
        prompt: NDArray[np.intc],
        *,
        reset: bool,
    ) -> Generator[int, Sequence[int] | None, None]:
        runtime = self._runtime
        live, context = runtime.live, runtime.context
        turn = runtime.turns.take()
        turn.adaptation = adaptation
        try:
            if not reset:
                prompt = np.concatenate((live.tokens, prompt))
            with self._chain(params, prompt) as chain:
                constrain(chain)
                sample: Callable[[], int] = chain.bind(context)
                if participants.present:
                    sample = Steps(context, chain, lambda: live.seen, participants)
                yield from generate(live, runtime.turns, turn, sample, begin(context, turn, prompt))
        finally:
            turn.end()

    def _chain(self, params: SamplingParams, history: NDArray[np.intc]) -> SamplerChain:
        runtime = self._runtime
        seed = runtime.seeds.resolve(params.seed)
        return build_chain(params, runtime.vocab, n_ctx=runtime.live.capacity, seed=seed, history=history)

    def reset(self) -> None:
        """Forget the tokens that the context holds."""
        runtime = self._runtime
        with runtime.turns.blocking() as turn:
            turn.adaptation = runtime.context.adaptation
            runtime.live.take(turn)
            runtime.live.clear()

    def set_seed(self, seed: int) -> None:
        """Begin a series of seeds for the requests that are given none: the same seed, the same series."""
        self._runtime.seeds = SeedSource(seed_value(seed))

    def abort(self) -> None:
        """Stop what is running now, from any thread: it ends with `finish_reason` "abort".

        A suspended stream ends when it is asked for its next chunk. Without a running request nothing happens:
        the next one is not affected.
        """
        self._runtime.abort()

    def attach_threadpool(self, threadpool: ThreadPool | int, threadpool_batch: ThreadPool | int | None = None) -> None:
        """Evaluate with the threads of a pool: single tokens with `threadpool`, several at once with `threadpool_batch`.

        Without the second, the first one does both. A `ThreadPool` is kept alive while it is attached; closing it
        detaches it. The address of a native `ggml_threadpool` is taken too, and has to live until it is detached.
        """
        runtime = self._runtime
        with runtime.turns.executing:
            runtime.context.attach_threadpool(threadpool, threadpool_batch)

    def detach_threadpool(self) -> None:
        """Evaluate with the context's own threads again. Without an attached pool nothing happens."""
        runtime = self._runtime
        with runtime.turns.executing:
            runtime.context.detach_threadpool()

    @property
    def n_tokens(self) -> int:
        """How many tokens the context holds."""
        return self._runtime.live.length

    @property
    def input_ids(self) -> NDArray[np.intc]:
        """The tokens that the context holds, in the first `n_tokens` places of an array of n_ctx. Not for writing."""
        return self._runtime.live.ids

    @property
    def scores(self) -> NDArray[np.single]:
        """Logits by position, shape (n_ctx, n_vocab), with `logits_all`; else one row, those of the last token."""
        runtime = self._runtime
        if runtime.live.scores is not None:
            return runtime.live.scores.rows
        with runtime.turns.executing:
            if not runtime.context.n_outputs:
                return np.zeros((0, runtime.vocab.n_tokens), np.single)
            last: NDArray[np.single] = runtime.context.logits(-1)[np.newaxis].copy()
            return last

    @property
    def _input_ids(self) -> NDArray[np.intc]:
        return self._runtime.live.tokens

    @property
    def _scores(self) -> NDArray[np.single]:
        rows: NDArray[np.single] = self.scores[: self.n_tokens]
        return rows

    @property
    def eval_tokens(self) -> deque[int]:
        """The tokens that the context holds; a copy."""
        return deque(self._input_ids.tolist(), maxlen=self._runtime.live.capacity)

    @property
    def eval_logits(self) -> deque[list[float]]:
        """The logits of `_scores` as lists; slow, and here for programs that know it."""
        return deque(self._scores.tolist(), maxlen=self._runtime.live.capacity)
