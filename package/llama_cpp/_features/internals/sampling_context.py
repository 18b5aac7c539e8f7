"""`LlamaSamplingContext`: the choice of tokens for one text, from one set of parameters; choosing and accepting are two steps."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from llama_cpp._engine.errors import ClosedError, InvalidArgumentError
from llama_cpp._features.grammar.definition import LlamaGrammar, grammar_from
from llama_cpp._features.sampling.arguments import logit_biases
from llama_cpp._features.sampling.chain import build_chain
from llama_cpp._features.sampling.parameters import DRY_SEQUENCE_BREAKERS, SamplingParams
from llama_cpp._features.sampling.reasoning import NO_BUDGET, ReasoningBudget, ReasoningLimit
from llama_cpp._features.sampling.seeds import RANDOM_SEED, SeedSource, seed_value

if TYPE_CHECKING:
    from types import TracebackType

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from llama_cpp._engine.custom_sampler import CustomSampler
    from llama_cpp._engine.sampler import SamplerChain
    from llama_cpp._engine.vocab import Vocab

    from .context import LlamaContext
    from .model import LlamaModel


class CommonSamplerType(IntEnum):
    """The samplers of a chain, by the numbers that llama.cpp's programs give them."""

    NONE = 0
    DRY = 1
    TOP_K = 2
    TOP_P = 3
    MIN_P = 4
    TYPICAL_P = 6
    TEMPERATURE = 7
    XTC = 8
    INFILL = 9
    PENALTIES = 10
    TOP_N_SIGMA = 11
    ADAPTIVE_P = 12


_STAGES = {CommonSamplerType.TYPICAL_P: "typ_p"}
_ORDER = (
    CommonSamplerType.PENALTIES,
    CommonSamplerType.DRY,
    CommonSamplerType.TOP_N_SIGMA,
    CommonSamplerType.TOP_K,
    CommonSamplerType.TYPICAL_P,
    CommonSamplerType.TOP_P,
    CommonSamplerType.MIN_P,
    CommonSamplerType.XTC,
    CommonSamplerType.TEMPERATURE,
)


@dataclass(kw_only=True)
class LlamaSamplingParams:
    """How tokens are chosen, under the names of llama.cpp's programs. `SamplingParams` says what each one does.

    `samplers` take part in their order. `grammar` is a `LlamaGrammar` or GBNF text; `custom` samplers, written in Python, come
    before all others. Changes count until the first token is chosen.
    """

    seed: int = RANDOM_SEED
    n_prev: int = 64
    min_keep: int = 0
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    xtc_probability: float = 0.0
    xtc_threshold: float = 0.1
    typical_p: float = 1.0
    temp: float = 0.8
    dynatemp_range: float = 0.0
    dynatemp_exponent: float = 1.0
    penalty_last_n: int = 64
    penalty_repeat: float = 1.0
    penalty_freq: float = 0.0
    penalty_present: float = 0.0
    dry_multiplier: float = 0.0
    dry_base: float = 1.75
    dry_allowed_length: int = 2
    dry_penalty_last_n: int = 64
    dry_sequence_breakers: tuple[str, ...] = DRY_SEQUENCE_BREAKERS
    adaptive_target: float = -1.0
    adaptive_decay: float = 0.9
    mirostat: int = 0
    mirostat_tau: float = 5.0
    mirostat_eta: float = 0.1
    top_n_sigma: float = -1.0
    ignore_eos: bool = False
    samplers: tuple[CommonSamplerType, ...] = _ORDER
    grammar: LlamaGrammar | str | None = None
    grammar_lazy: bool = False
    logit_bias: dict[int, float] = field(default_factory=dict)
    reasoning_budget: int = NO_BUDGET
    reasoning_start: str = "<think>"
    reasoning_end: str = "</think>"
    reasoning_budget_message: str | None = None
    reasoning_start_in_prompt: bool = False
    reasoning_start_max_tokens: int = 32
    custom: tuple[CustomSampler, ...] = ()

    def chosen(self) -> SamplingParams:
        """The same as the parameters that a chain is built of. Raises ValueError for values that make no sense."""
        taking_part = [CommonSamplerType(each) for each in self.samplers if each != CommonSamplerType.NONE]
        return SamplingParams(
            **{name: getattr(self, name) for name in _SAME},
            temperature=self.temp,
            repeat_penalty=self.penalty_repeat,
            frequency_penalty=self.penalty_freq,
            presence_penalty=self.penalty_present,
            mirostat_mode=self.mirostat,
            dry_sequence_breakers=tuple(self.dry_sequence_breakers),
            infill=CommonSamplerType.INFILL in taking_part,
            logit_bias=logit_biases(self.logit_bias),
            order=tuple(_STAGES.get(each, each.name.lower()) for each in taking_part),
            seed=seed_value(self.seed),
        )

    def limit(self) -> ReasoningLimit:
        """The limit on thinking."""
        return ReasoningLimit(
            budget=self.reasoning_budget,
            start=self.reasoning_start,
            end=self.reasoning_end,
            message=self.reasoning_budget_message or "",
            start_in_prompt=self.reasoning_start_in_prompt,
            start_max_tokens=self.reasoning_start_max_tokens,
        )


_SAME = (
    "min_keep", "top_k", "top_p", "min_p", "xtc_probability", "xtc_threshold", "typical_p", "dynatemp_range", "dynatemp_exponent",
    "penalty_last_n", "dry_multiplier", "dry_base", "dry_allowed_length", "dry_penalty_last_n", "adaptive_target", "adaptive_decay",
    "mirostat_tau", "mirostat_eta", "top_n_sigma", "ignore_eos",
)  # fmt: skip


class LlamaSamplingContext:
    """Chooses the tokens of one text. Freed by `close()`, or with the model.

    Without `model`, that of the first context is taken. `sample` chooses and changes nothing; `accept` says what was taken.
    """

    def __init__(self, params: LlamaSamplingParams | None = None, model: LlamaModel | None = None) -> None:
        self.params = params if params is not None else LlamaSamplingParams()
        self.prev: deque[int] = deque(maxlen=max(self.params.n_prev, 1))
        self._chain: SamplerChain | None = None
        self._vocab: Vocab | None = None
        self._reasoning: ReasoningBudget | None = None
        self._closed = False
        if model is not None:
            self._open(model)

    def _open(self, model: LlamaModel) -> SamplerChain:
        if self._closed:
            raise ClosedError("this LlamaSamplingContext is closed; create a new one")
        if self._chain is None:
            params, vocab = self.params, model.engine.vocab
            chosen, grammar = params.chosen(), grammar_from(params.grammar, lazy=params.grammar_lazy)
            seed = SeedSource().resolve(chosen.seed)
            chain = build_chain(chosen, vocab, n_ctx=model.engine.n_ctx_train, seed=seed, custom=params.custom)
            try:
                if grammar is not None:
                    grammar.constrain(chain, vocab, lazy=params.grammar_lazy)
            except BaseException:
                chain.close()
                raise
            self._chain, self._vocab, self._reasoning = chain, vocab, ReasoningBudget(params.limit(), vocab)
        return self._chain

    def sample(self, ctx_main: LlamaContext, idx: int = -1, logits_array: ArrayLike | None = None) -> int:
        """Choose a token by one row of the last evaluation, or by logits of one's own. Raises what a custom sampler raised."""
        chain = self._open(ctx_main.model)
        forced = self._reasoning.forced() if self._reasoning is not None else None
        if forced is not None:
            return forced
        logits = ctx_main.engine.logits(idx) if logits_array is None else np.asarray(logits_array, np.float32).reshape(-1)
        if len(logits) != ctx_main.engine.n_vocab:
            raise InvalidArgumentError(f"{len(logits)} logits were given for {ctx_main.engine.n_vocab} tokens")
        return chain.choose(logits)

    def accept(self, ctx_main: LlamaContext, id: int, apply_grammar: bool = True) -> None:  # noqa: A002 - published name
        """Take a token: penalties, grammars and the reasoning budget see it.

        With `apply_grammar` False grammars don't: for tokens of the prompt.
        """
        chain = self._open(ctx_main.model)
        chain.accept(id, filters=apply_grammar)
        if self._reasoning is not None:
            self._reasoning.accept(id)
        self.prev.append(id)

    def reset(self) -> None:
        """Begin another text."""
        self.prev.clear()
        if self._chain is not None and self._vocab is not None:
            self._chain.reset()
            self._reasoning = ReasoningBudget(self.params.limit(), self._vocab)

    def cp(self) -> LlamaSamplingContext:
        """An independent copy in the same state."""
        made = LlamaSamplingContext(self.params)
        made.prev.extend(self.prev)
        if self._chain is not None and self._reasoning is not None:
            made._chain, made._vocab, made._reasoning = self._chain.clone(), self._vocab, self._reasoning.clone()
        return made

    def last(self) -> int | None:
        """The token that was accepted last; None when there is none."""
        return self.prev[-1] if self.prev else None

    def prev_str(self, ctx_main: LlamaContext, n: int) -> str:
        """The text of the last n tokens."""
        vocab = ctx_main.model.engine.vocab
        return b"".join(vocab.piece(token, special=True) for token in list(self.prev)[-n:] if n > 0).decode("utf-8", "replace")

    def force_reasoning_budget(self) -> bool:
        """End the thinking now; False outside of it."""
        return self._reasoning.force() if self._reasoning is not None else False

    def close(self) -> None:
        """Free what was built."""
        chain, self._chain, self._closed = self._chain, None, True
        if chain is not None:
            chain.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
