"""Sampler chains: built from llama.cpp's samplers, run in C over the whole vocabulary.

Which samplers a request gets, and in which order, is decided by the features above.
"""

from __future__ import annotations

import ctypes
import math
import weakref
from copy import copy as copy_of
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from typing_extensions import Self

from llama_cpp._native.bindings import llama

from .candidates import Candidates
from .constraint import Constraint
from .custom_sampler import CustomSampler, Member, member_of
from .device_sampling import NO_TOKEN, DeviceSampling
from .errors import GrammarError, InvalidArgumentError, SamplerChainError, SamplerError, TokenRangeError
from .grammar import GRAMMAR_ROOT, GrammarSampler, TokenFilter, TokenWitness
from .handle import Handle
from .lazy_grammar import LazyGrammar
from .returns import log_mark, require_pointer
from .shortlist import Reach, Shortlist

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from .context import Context
    from .model import Model
    from .vocab import Vocab

_UINT32 = 0xFFFFFFFF
_FORGETFUL = {
    "logit-bias", "top-k", "top-p", "min-p", "typical", "temp", "temp-ext", "xtc", "top-n-sigma", "infill", "greedy", "dist",
}  # fmt: skip
"""Samplers that accepted tokens don't change."""
_ADAPTING = {"mirostat", "mirostat-v2"}
"""Samplers that a selection changes, whatever becomes of it."""


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
        self._constraint: Constraint | None = None
        self._candidates: Candidates | None = None
        self._reach = Reach()
        self._shortlist: Shortlist | None = None
        self._measured = False  # whether it is known that there is none
        self._kinds: frozenset[str] | None = None
        self._models: list[Model] = []
        self._host_only = False  # whether a member lacks what a device needs
        self._members: list[Member] = []  # those written in Python
        self.device: tuple[weakref.ref[Context], int] | None = None  # the sequence that it was attached to, by `DeviceSampling`
        pointer = require_pointer(pointer, SamplerError, "the sampler chain could not be created", log_mark())
        self._own(pointer, llama.llama_sampler_free)

    # ---- building ---------------------------------------------------------------------------------------------

    def _add(
        self, sampler: llama.llama_sampler_p | None, *, selects: bool = False, lowers: int | None = None, keeps: int | None = None
    ) -> Self:
        """Add a native sampler.

        `lowers` says of how many tokens at most it lowers the logits, if that is all it does; `keeps` how many of the
        highest it leaves.
        """
        chain = self.pointer
        sampler = require_pointer(sampler, SamplerError, "a sampler could not be created", log_mark())
        if self.device is not None:
            llama.llama_sampler_free(sampler)
            raise SamplerChainError("the chain is attached to a context; nothing can be added to it any more")
        if self._selects:
            llama.llama_sampler_free(sampler)
            raise SamplerChainError("the chain already ends with a sampler that selects a token; nothing can follow it")
        llama.llama_sampler_chain_add(chain, sampler)
        self._selects = selects
        self._measured, self._kinds = False, None
        if keeps is not None:
            self._reach.limits(keeps)
        elif lowers is not None:
            self._reach.lowers(lowers)
        else:
            self._reach.sees_all()
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
        return self._add(llama.llama_sampler_init_greedy(), selects=True, keeps=1)

    def add_dist(self, seed: int) -> Self:
        """Draw a token from the distribution. LLAMA_DEFAULT_SEED draws a random seed."""
        return self._add(llama.llama_sampler_init_dist(seed & _UINT32), selects=True)

    def add_top_k(self, k: int) -> Self:
        """Keep the k most probable tokens; k <= 0 keeps all."""
        return self._add(llama.llama_sampler_init_top_k(k), keeps=k if k > 0 else None)

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
        self._host_only = self._host_only or n_vocab < 1
        lowers = last_n if last_n >= 0 and repeat >= 1 and frequency >= 0 and presence >= 0 else None
        return self._add(llama.llama_sampler_init_penalties(n_vocab, last_n, repeat, frequency, presence), lowers=lowers)

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
        made = llama.llama_sampler_init_dry(pointer, multiplier, base, allowed_length, last_n, texts, len(breakers))
        return self._add(made, lowers=last_n if last_n >= 0 and multiplier >= 0 and base >= 0 else None)

    def add_logit_bias(self, vocab: Vocab | int, biases: Mapping[int, float]) -> Self:
        """Add to the logits of single tokens; -inf forbids a token. Of the vocabulary its size is enough."""
        entries = (llama.llama_logit_bias * len(biases))()
        n_vocab = vocab if isinstance(vocab, int) else vocab.n_tokens
        for entry, (token, bias) in zip(entries, biases.items(), strict=True):
            if not 0 <= token < n_vocab:
                raise TokenRangeError(f"token {token} is out of range: this vocabulary has {n_vocab} tokens")
            entry.token, entry.bias = token, bias
        lowers = len(entries) if all(bias <= 0 for bias in biases.values()) else None
        return self._add(llama.llama_sampler_init_logit_bias(n_vocab, len(entries), entries), lowers=lowers)

    def add_infill(self, vocab: Vocab) -> Self:
        """For fill-in-the-middle; belongs after top-k and top-p."""
        return self._add(llama.llama_sampler_init_infill(self._tie(vocab)))

    def add_grammar(self, vocab: Vocab, text: str, *, root: str = GRAMMAR_ROOT, witness: TokenWitness | None = None) -> Self:
        """Forbid what a GBNF grammar does not allow, whenever it is added. `GrammarSampler` says what the text has to be."""
        self._tie(vocab)
        return self._add_filter(GrammarSampler(vocab, text, root=root, witness=witness))

    def add_grammar_lazy(
        self,
        vocab: Vocab,
        text: str,
        *,
        root: str = GRAMMAR_ROOT,
        patterns: Sequence[str] = (),
        tokens: Sequence[int] = (),
        witness: TokenWitness | None = None,
    ) -> Self:
        """The same, asleep until a token of `tokens` is accepted or one of the regex `patterns` matches the output."""
        self._tie(vocab)
        return self._add_filter(LazyGrammar(vocab, text, root=root, patterns=patterns, tokens=tokens, witness=witness))

    def add_custom(self, custom: CustomSampler) -> Self:
        """A sampler written in Python. What its callbacks raise is raised by the call that ran them."""
        member = Member(custom)
        self._add(member.create(), selects=custom.selects)
        self._members.append(member)
        return self

    def _add_filter(self, made: TokenFilter) -> Self:
        self._adopt(made.handle)
        self._filters.append(made)
        self._constraint = Constraint(self._models[0].vocab, self._filters)
        return self

    # ---- running ----------------------------------------------------------------------------------------------

    def sample(self, context: Context, index: int = -1, *, filters: bool = True) -> int:
        """Select a token from one row of the last evaluation, and accept it. With `filters` off grammars are neither asked nor told.

        Raises `SamplerChainError` when nothing in the chain selects, `OutputIndexError` when there is no such row,
        `GrammarError` when the grammar allows none of the tokens that the other samplers left.
        """
        pointer = self.pointer
        if not self._selects and not self._members:
            raise SamplerChainError("no sampler of this chain selects a token; end it with add_dist or add_greedy")
        context.check_output(index)
        if self.device is not None or context.samplers:
            return self._sample_on_device(context, index)
        if self._constraint is not None:
            return self._sample_constrained(self._constraint, context, index) if filters else self._sample_unconstrained(context, index)
        if self._members or context.rows.given is not None:
            return self._sample_here(context, index)
        token = self._sample_short(context, index) if self._shortens(context.n_vocab) else -1
        return token if token >= 0 else int(llama.llama_sampler_sample(pointer, context.pointer, index))

    def bind(self, context: Context) -> Callable[[], int]:
        """`sample(context)` as a function without arguments, quicker to call: for generation loops."""
        own, theirs, rows = self.ownership, context.ownership, context.rows
        if self._filters or self._members or self.device or context.samplers or not self._selects or self._shortens(context.n_vocab):
            return partial(self.sample, context)
        native = llama.llama_sampler_sample

        def sample() -> int:
            if own.pointer and theirs.pointer and rows.count:
                return native(own.pointer, theirs.pointer, -1)
            return self.sample(context)  # which says what is wrong

        return sample

    def _shortens(self, n_vocab: int) -> bool:
        """Whether the highest logits decide what is selected, and finding them first is quicker."""
        if not self._measured:
            self._measured = True
            self._shortlist = None if self._reach.keep == 1 else self._reach.shortlist(n_vocab)
        return self._shortlist is not None or self._reach.keep == 1

    def _sample_short(self, context: Context, index: int) -> int:
        """The native selection, from the few tokens that can decide it; -1 when there is no short list."""
        token = self._select_among_highest(context.logits(index))
        if token >= 0:
            llama.llama_sampler_accept(self.pointer, token)
        return token

    def _select_among_highest(self, logits: NDArray[np.float32]) -> int:
        token = int(logits.argmax()) if self._shortlist is None else self._select_short(self._shortlist, logits)
        return -1 if token < 0 or np.isnan(logits[token]) else token

    def _select_short(self, shortlist: Shortlist, logits: NDArray[np.float32]) -> int:
        tokens = shortlist.tokens(logits)
        if tokens is None:
            return -1
        candidates = self._room(len(tokens))
        candidates.fill_tokens(tokens, logits[tokens])
        return self._select_from(candidates)

    def _select(self, logits: NDArray[np.float32]) -> int:
        """The selection from one row, which is not accepted; -1 for none."""
        token = self._select_among_highest(logits) if self._shortens(len(logits)) else -1
        return self._select_from_all(logits) if token < 0 else token

    def _select_from_all(self, logits: NDArray[np.float32]) -> int:
        candidates = self._room(len(logits))
        candidates.fill(logits)
        return self._select_from(candidates)

    def _select_from(self, candidates: Candidates) -> int:
        self.apply(candidates)
        return candidates.selected_token

    def _sample_on_device(self, context: Context, index: int) -> int:
        """Take what the device chose, or go on with the candidates that it left. Native code would not survive that there are none."""
        if self.device is None or self.device[0]() is not context or context.samplers.get(self.device[1]) is not self:
            raise SamplerChainError("the context samples on its device, with a chain attached to it: sample with that one, or detach it")
        device = DeviceSampling(context)
        token = device.token(index)
        if token == NO_TOKEN:
            logits, tokens = device.logits(index), device.candidates(index)
            if not len(logits):
                raise SamplerChainError("this output was evaluated before the chain was attached; evaluate it again")
            candidates = self._room(len(logits))
            candidates.fill_tokens(tokens if len(tokens) else np.arange(len(logits)), logits)
            self.apply(candidates)
            token = candidates.selected_token
            if token < 0:
                raise SamplerChainError("no sampler of this chain selected a token; end it with add_dist or add_greedy")
        self._accept(token)
        return token

    def _room(self, count: int) -> Candidates:
        if self._candidates is None or self._candidates.capacity < count:
            self._candidates = Candidates(count)
        return self._candidates

    def _sample_here(self, context: Context, index: int) -> int:
        """Apply the chain to a row here: it is not in native memory, or Python members take part, whose errors can be raised."""
        token = self.choose(context.logits(index))
        self._accept(token)
        return token

    def _sample_unconstrained(self, context: Context, index: int) -> int:
        """The choice of the native members, with grammars neither asked nor told."""
        token = self._select(context.logits(index))
        if token < 0:
            raise SamplerChainError("no sampler of this chain selected a token; end it with add_dist or add_greedy")
        self.accept(token, filters=False)
        return token

    def choose(self, logits: NDArray[np.float32]) -> int:
        """Select a token by the logits of the whole vocabulary, accepting nothing. Raises as `sample` does."""
        constraint, token = self._constraint, -1
        if constraint is None or not self._adapts():
            token = self._select(logits)
        if constraint is not None and not constraint.allows(token):
            token = constraint.choose(self._select_from, logits, keep=self._reach.keep, refused=token)
        if token < 0:
            raise SamplerChainError("no sampler of this chain selected a token; end it with add_dist or add_greedy")
        return token

    def _adapts(self) -> bool:
        if self._kinds is None:
            self._kinds = frozenset(name.lstrip("+-?") for name in self.names)
        return bool(self._kinds & _ADAPTING)

    def _sample_constrained(self, constraint: Constraint, context: Context, index: int) -> int:
        """Select first and ask about the one token; select among the allowed ones only when it is refused.

        Mirostat learns from each selection: with it the allowed ones come first, so that there is one.
        """
        logits = context.logits(index)
        token = -1
        if not self._adapts() and self._kinds is not None:
            known = self._kinds <= _FORGETFUL and not self._members and context.rows.given is None
            native = known and not self._shortens(len(logits))
            token = int(llama.llama_sampler_sample(self.pointer, context.pointer, index)) if native else self._select(logits)
        if not constraint.allows(token):
            token = constraint.choose(self._select_from, logits, keep=self._reach.keep, refused=token)
        self._accept(token)
        return token

    def _allows(self, token: int) -> bool:
        return self._constraint is None or self._constraint.allows(token)

    def _accept(self, token: int) -> None:
        for each in self._filters:
            each.accept(token)
        llama.llama_sampler_accept(self.pointer, token)
        self._raise_pending()

    def _raise_pending(self) -> None:
        for member in self._members:
            member.raise_pending()

    def apply(self, candidates: Candidates) -> None:
        """Run the chain over candidates, in place, accepting nothing."""
        if candidates.size < 1:
            raise InvalidArgumentError("there are no candidates to sample from")
        llama.llama_sampler_apply(self.pointer, ctypes.byref(candidates.struct))
        self._raise_pending()

    def accept(self, token: int, *, filters: bool = True) -> None:
        """Tell the chain that a token was chosen, and grammars unless `filters` is off. `GrammarError` when one does not allow it."""
        if token < 0 or (self._models and token >= self._models[0].vocab.n_tokens):
            raise TokenRangeError(f"token {token} is out of range")
        if not filters:
            llama.llama_sampler_accept(self.pointer, token)
            self._raise_pending()
            return
        if not self._allows(token):
            raise GrammarError(f"the grammar does not allow token {token} here")
        self._accept(token)

    def remind(self, tokens: Sequence[int]) -> None:
        """Tell grammars that sleep of tokens that they were not told of: they may be part of a trigger."""
        for each in self._filters:
            for token in tokens:
                if not each.awake and each.allows(token):
                    each.accept(token)

    def reset(self) -> None:
        """Forget accepted tokens; random generators start again from their seeds."""
        llama.llama_sampler_reset(self.pointer)
        for each in self._filters:
            each.reset()
        self._raise_pending()

    def clone(self) -> SamplerChain:
        """An independent copy with the same state."""
        copy = SamplerChain.__new__(SamplerChain)
        copy._init(llama.llama_sampler_clone(self.pointer), selects=self._selects)  # noqa: SLF001 - its own class
        for model in self._models:
            copy._attach(model)  # noqa: SLF001
            copy._models.append(model)  # noqa: SLF001
        for each in self._filters:
            copy._add_filter(each.clone())  # noqa: SLF001
        copy._reach = copy_of(self._reach)  # noqa: SLF001
        if self._members:
            copy._members = [member for each in copy._natives() if (member := member_of(each)) is not None]  # noqa: SLF001
        try:
            self._raise_pending()
        except BaseException:
            copy.close()
            raise
        return copy

    def close(self) -> None:
        """Detach it from a context, and free it with its members and grammars."""
        if self.device is not None and not self.closed:
            context, seq_id = self.device[0](), self.device[1]
            if context is not None and not context.closed and context.samplers.get(seq_id) is self:
                DeviceSampling(context).attach(seq_id, None)
        super().close()
        self._members = []

    @property
    def native(self) -> bool:
        """Whether every member is one of llama.cpp's own that knows all it needs, and no grammar stands beside them."""
        return not self._filters and not self._members and not self._host_only

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
        return [(llama.llama_sampler_name(member) or b"").decode() for member in self._natives()]

    def _natives(self) -> list[llama.llama_sampler_p]:
        pointer = self.pointer
        members = (llama.llama_sampler_chain_get(pointer, index) for index in range(llama.llama_sampler_chain_n(pointer)))
        return [member for member in members if member is not None]


def _size(value: int) -> int:
    if value < 0:
        raise InvalidArgumentError(f"min_keep={value} must not be negative")
    return value
