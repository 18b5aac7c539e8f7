"""Sampler chains: built from llama.cpp's samplers, run in C over the whole vocabulary.

Which samplers a request gets, and in which order, is decided by the features above.
"""

from __future__ import annotations

import ctypes
import math
from functools import partial
from typing import TYPE_CHECKING

from typing_extensions import Self

from llama_cpp._native.bindings import llama

from .candidates import Candidates
from .errors import GrammarError, InvalidArgumentError, SamplerChainError, SamplerError, TokenRangeError
from .grammar import GRAMMAR_ROOT, GrammarSampler, LazyGrammar, TokenFilter
from .handle import Handle
from .returns import log_mark, require_pointer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .context import Context
    from .model import Model
    from .vocab import Vocab

_UINT32 = 0xFFFFFFFF


class SamplerChain(Handle[llama.llama_sampler_p]):
    """An owned chain of samplers, which owns its members. Each `add_` returns the chain itself.

    A sampler that selects a token (greedy, dist, mirostat, adaptive-p) ends the chain. Samplers that use a
    vocabulary tie the chain to that model. Grammars stand beside the chain, and are asked about each token.
    """

    def __init__(self, *, no_perf: bool = True) -> None:
        params = llama.llama_sampler_chain_default_params()
        params.no_perf = no_perf
        self._init(llama.llama_sampler_chain_init(params), selects=False)

    def _init(self, pointer: llama.llama_sampler_p | None, *, selects: bool) -> None:
        self._selects = selects
        self._filters: list[TokenFilter] = []
        self._candidates: Candidates | None = None
        self._models: list[Model] = []
        pointer = require_pointer(pointer, SamplerError, "the sampler chain could not be created", log_mark())
        self._own(pointer, llama.llama_sampler_free)

    # ---- building ---------------------------------------------------------------------------------------------

    def _add(self, sampler: llama.llama_sampler_p | None, *, selects: bool = False) -> Self:
        chain = self.pointer
        sampler = require_pointer(sampler, SamplerError, "a sampler could not be created", log_mark())
        if self._selects:
            llama.llama_sampler_free(sampler)
            raise SamplerChainError("the chain already ends with a sampler that selects a token; nothing can follow it")
        llama.llama_sampler_chain_add(chain, sampler)
        self._selects = selects
        return self

    def _tie(self, vocab: Vocab) -> llama.llama_vocab_p:
        """Make the chain depend on the vocabulary's model; returns the vocabulary's address."""
        pointer = vocab.pointer
        if self._models and vocab.model not in self._models:
            raise SamplerChainError("all samplers of a chain must use the same model")
        if not self._models:
            self._attach(vocab.model)
            self._models.append(vocab.model)
        return pointer

    def add_greedy(self) -> Self:
        """Select the most probable token."""
        return self._add(llama.llama_sampler_init_greedy(), selects=True)

    def add_dist(self, seed: int) -> Self:
        """Draw a token from the distribution. LLAMA_DEFAULT_SEED draws a random seed."""
        return self._add(llama.llama_sampler_init_dist(seed & _UINT32), selects=True)

    def add_top_k(self, k: int) -> Self:
        """Keep the k most probable tokens; k <= 0 keeps all."""
        return self._add(llama.llama_sampler_init_top_k(k))

    def add_top_p(self, p: float, min_keep: int = 1) -> Self:
        """Keep the most probable tokens that together reach probability p."""
        return self._add(llama.llama_sampler_init_top_p(p, _size(min_keep)))

    def add_min_p(self, p: float, min_keep: int = 1) -> Self:
        """Keep tokens of at least p times the highest probability."""
        return self._add(llama.llama_sampler_init_min_p(p, _size(min_keep)))

    def add_typical(self, p: float, min_keep: int = 1) -> Self:
        """Locally typical sampling."""
        return self._add(llama.llama_sampler_init_typical(p, _size(min_keep)))

    def add_temp(self, temperature: float) -> Self:
        """Divide logits by the temperature; at 0 or below only the highest stays."""
        return self._add(llama.llama_sampler_init_temp(temperature))

    def add_temp_ext(self, temperature: float, delta: float, exponent: float) -> Self:
        """Temperature that follows the entropy, in temperature - delta to temperature + delta."""
        return self._add(llama.llama_sampler_init_temp_ext(temperature, delta, exponent))

    def add_xtc(self, probability: float, threshold: float, min_keep: int, seed: int) -> Self:
        """Exclude top choices."""
        return self._add(llama.llama_sampler_init_xtc(probability, threshold, _size(min_keep), seed & _UINT32))

    def add_top_n_sigma(self, n: float) -> Self:
        """Keep logits within n standard deviations of the highest."""
        return self._add(llama.llama_sampler_init_top_n_sigma(n))

    def add_mirostat(self, n_vocab: int, seed: int, tau: float, eta: float, m: int) -> Self:
        """Mirostat 1.0; selects a token."""
        return self._add(llama.llama_sampler_init_mirostat(n_vocab, seed & _UINT32, tau, eta, m), selects=True)

    def add_mirostat_v2(self, seed: int, tau: float, eta: float) -> Self:
        """Mirostat 2.0; selects a token."""
        return self._add(llama.llama_sampler_init_mirostat_v2(seed & _UINT32, tau, eta), selects=True)

    def add_adaptive_p(self, target: float, decay: float, seed: int) -> Self:
        """Select tokens near a target probability over time."""
        return self._add(llama.llama_sampler_init_adaptive_p(target, decay, seed & _UINT32), selects=True)

    def add_penalties(self, n_vocab: int, last_n: int, repeat: float, frequency: float, presence: float) -> Self:
        """Penalise tokens among the last `last_n` accepted ones."""
        if not (math.isfinite(repeat) and repeat > 0 and math.isfinite(frequency) and math.isfinite(presence)):
            raise InvalidArgumentError("penalties must be finite, and the repeat penalty positive")
        return self._add(llama.llama_sampler_init_penalties(n_vocab, last_n, repeat, frequency, presence))

    def add_dry(
        self,
        vocab: Vocab,
        *,
        multiplier: float,
        base: float,
        allowed_length: int,
        last_n: int,
        sequence_breakers: Sequence[str | bytes] = (),
    ) -> Self:
        """Penalise tokens that would extend a repetition."""
        breakers = [each.encode() if isinstance(each, str) else each for each in sequence_breakers]
        texts = (ctypes.c_char_p * len(breakers))(*breakers)
        pointer = self._tie(vocab)
        return self._add(llama.llama_sampler_init_dry(pointer, multiplier, base, allowed_length, last_n, texts, len(breakers)))

    def add_logit_bias(self, vocab: Vocab, biases: Mapping[int, float]) -> Self:
        """Add to the logits of single tokens; -inf forbids a token."""
        entries = (llama.llama_logit_bias * len(biases))()
        for entry, (token, bias) in zip(entries, biases.items(), strict=True):
            entry.token, entry.bias = vocab.check(token), bias
        return self._add(llama.llama_sampler_init_logit_bias(vocab.n_tokens, len(entries), entries))

    def add_infill(self, vocab: Vocab) -> Self:
        """For fill-in-the-middle; belongs after top-k and top-p."""
        return self._add(llama.llama_sampler_init_infill(self._tie(vocab)))

    def add_grammar(self, vocab: Vocab, text: str, *, root: str = GRAMMAR_ROOT) -> Self:
        """Forbid what a GBNF grammar does not allow. It works before all samplers, whenever it is added."""
        self._tie(vocab)
        return self._add_filter(GrammarSampler(vocab, text, root=root))

    def add_grammar_lazy(
        self,
        vocab: Vocab,
        text: str,
        *,
        root: str = GRAMMAR_ROOT,
        patterns: Sequence[str] = (),
        tokens: Sequence[int] = (),
    ) -> Self:
        """The same, asleep until a token of `tokens` is accepted or one of the regex `patterns` matches the output."""
        self._tie(vocab)
        return self._add_filter(LazyGrammar(vocab, text, root=root, patterns=patterns, tokens=tokens))

    def _add_filter(self, made: TokenFilter) -> Self:
        self._adopt(made.handle)
        self._filters.append(made)
        return self

    # ---- running ----------------------------------------------------------------------------------------------

    def sample(self, context: Context, index: int = -1) -> int:
        """Select a token from one row of the last evaluation, and accept it.

        Raises `SamplerChainError` when nothing in the chain selects, `OutputIndexError` when there is no such row,
        `GrammarError` when the grammar allows none of the tokens that the other samplers left.
        """
        pointer = self.pointer
        if not self._selects:
            raise SamplerChainError("no sampler of this chain selects a token; end it with add_dist or add_greedy")
        context.check_output(index)
        if self._filters:
            return self._sample_filtered(context, index)
        return int(llama.llama_sampler_sample(pointer, context.pointer, index))

    def bind(self, context: Context) -> Callable[[], int]:
        """`sample(context)` as a function without arguments, quicker to call: for generation loops."""
        own, theirs, rows = self.ownership, context.ownership, context.rows
        if self._filters or not self._selects:
            return partial(self.sample, context)
        native = llama.llama_sampler_sample

        def sample() -> int:
            if own.pointer and theirs.pointer and rows.count:
                return native(own.pointer, theirs.pointer, -1)
            return self.sample(context)  # which says what is wrong

        return sample

    def _sample_filtered(self, context: Context, index: int) -> int:
        """Sample first and ask about the one token; mask the whole vocabulary only when it is refused."""
        candidates = self._candidates
        if candidates is None or candidates.capacity < context.n_vocab:
            candidates = self._candidates = Candidates(context.n_vocab)
        candidates.fill(context.logits(index))
        self.apply(candidates)
        token = candidates.selected_token
        if not self._allows(token):
            candidates.fill(context.logits(index))
            for each in self._filters:
                each.apply(candidates)
            self.apply(candidates)
            token = candidates.selected_token
            if not self._allows(token):
                raise GrammarError("the grammar allows none of the tokens that the samplers left")
        self._accept(token)
        return token

    def _allows(self, token: int) -> bool:
        return token >= 0 and all(each.allows(token) for each in self._filters)

    def _accept(self, token: int) -> None:
        for each in self._filters:
            each.accept(token)
        llama.llama_sampler_accept(self.pointer, token)

    def apply(self, candidates: Candidates) -> None:
        """Run the chain over candidates, in place, accepting nothing."""
        if candidates.size < 1:
            raise InvalidArgumentError("there are no candidates to sample from")
        llama.llama_sampler_apply(self.pointer, ctypes.byref(candidates.struct))

    def accept(self, token: int) -> None:
        """Tell the chain that a token was chosen. `GrammarError` when a grammar in it does not allow that."""
        if token < 0 or (self._models and token >= self._models[0].vocab.n_tokens):
            raise TokenRangeError(f"token {token} is out of range")
        if not self._allows(token):
            raise GrammarError(f"the grammar does not allow token {token} here")
        self._accept(token)

    def reset(self) -> None:
        """Forget accepted tokens; random generators start again from their seeds."""
        llama.llama_sampler_reset(self.pointer)
        for each in self._filters:
            each.reset()

    def clone(self) -> SamplerChain:
        """An independent copy with the same state."""
        copy = SamplerChain.__new__(SamplerChain)
        copy._init(llama.llama_sampler_clone(self.pointer), selects=self._selects)  # noqa: SLF001 - its own class
        for model in self._models:
            copy._attach(model)  # noqa: SLF001
            copy._models.append(model)  # noqa: SLF001
        for each in self._filters:
            copy._add_filter(each.clone())  # noqa: SLF001
        return copy

    @property
    def selects(self) -> bool:
        """Whether the chain can select a token."""
        return self._selects

    @property
    def seed(self) -> int:
        """The seed in use, LLAMA_DEFAULT_SEED when no sampler has one."""
        return int(llama.llama_sampler_get_seed(self.pointer))

    @property
    def names(self) -> list[str]:
        """The names of the native members, in order; grammars work beside them."""
        pointer = self.pointer
        return [
            (llama.llama_sampler_name(member) or b"").decode()
            for index in range(llama.llama_sampler_chain_n(pointer))
            if (member := llama.llama_sampler_chain_get(pointer, index)) is not None
        ]


def _size(value: int) -> int:
    if value < 0:
        raise InvalidArgumentError(f"min_keep={value} must not be negative")
    return value
