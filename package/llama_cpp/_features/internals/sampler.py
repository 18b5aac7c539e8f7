"""`LlamaSampler`: a chain of samplers, built one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_cpp._engine.custom_sampler import CustomSampler
from llama_cpp._engine.errors import InvalidArgumentError
from llama_cpp._engine.sampler import SamplerChain
from llama_cpp._features.grammar.definition import grammar_from
from llama_cpp._features.sampling.parameters import DRY_SEQUENCE_BREAKERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from typing_extensions import Self

    from .candidates import LlamaTokenDataArray
    from .context import LlamaContext
    from .model import LlamaModel


class LlamaSampler:
    """An owned chain, freed by `close()`. Samplers run in the order of their adding; each `add_` returns the chain.

    One that selects a token (greedy, dist, mirostat, adaptive-p) ends the chain. Grammars stand beside it: each token is
    offered to them, wherever they were added.
    """

    def __init__(self) -> None:
        self.engine = SamplerChain()

    @classmethod
    def of(cls, chain: SamplerChain) -> Self:
        """The face of a chain, whose owner it becomes."""
        made = cls.__new__(cls)
        made.engine = chain
        return made

    @property
    def sampler(self) -> int:
        """The address of the native chain."""
        return self.engine.pointer

    # ---- building ---------------------------------------------------------------------------------------------

    def add_greedy(self) -> Self:
        """Select the likeliest token."""
        self.engine.add_greedy()
        return self

    def add_dist(self, seed: int) -> Self:
        """Draw a token."""
        self.engine.add_dist(seed)
        return self

    def add_top_k(self, k: int) -> Self:
        """Keep the k likeliest tokens; 0 keeps all."""
        self.engine.add_top_k(k)
        return self

    def add_top_p(self, p: float, min_keep: int = 1) -> Self:
        """Keep the likeliest tokens that together reach p."""
        self.engine.add_top_p(p, min_keep)
        return self

    def add_min_p(self, p: float, min_keep: int = 1) -> Self:
        """Keep tokens of at least p times the highest probability."""
        self.engine.add_min_p(p, min_keep)
        return self

    def add_typical(self, p: float, min_keep: int = 1) -> Self:
        """Locally typical sampling."""
        self.engine.add_typical(p, min_keep)
        return self

    def add_temp(self, temp: float) -> Self:
        """Divide logits by the temperature."""
        self.engine.add_temp(temp)
        return self

    def add_temp_ext(self, t: float, delta: float, exponent: float) -> Self:
        """A temperature that follows the entropy, in t - delta to t + delta."""
        self.engine.add_temp_ext(t, delta, exponent)
        return self

    def add_xtc(self, p: float, t: float, min_keep: int, seed: int) -> Self:
        """Exclude top choices above the threshold t, with probability p."""
        self.engine.add_xtc(p, t, min_keep, seed)
        return self

    def add_top_n_sigma(self, n: float) -> Self:
        """Keep logits within n standard deviations of the highest."""
        self.engine.add_top_n_sigma(n)
        return self

    def add_mirostat(self, n_vocab: int, seed: int, tau: float, eta: float, m: int) -> Self:
        """Mirostat 1; selects a token."""
        self.engine.add_mirostat(n_vocab, seed, tau, eta, m)
        return self

    def add_mirostat_v2(self, seed: int, tau: float, eta: float) -> Self:
        """Mirostat 2; selects a token."""
        self.engine.add_mirostat_v2(seed, tau, eta)
        return self

    def add_adaptive_p(self, target: float, decay: float, seed: int) -> Self:
        """Select tokens near a target probability over time."""
        self.engine.add_adaptive_p(target, decay, seed)
        return self

    def add_grammar(self, model: LlamaModel, grammar: Any, lazy: bool = False) -> Self:
        """Forbid what a grammar does not allow: a `LlamaGrammar`, or GBNF text. A lazy one waits for its own triggers."""
        made = grammar_from(grammar, lazy=lazy)
        if made is None:
            raise InvalidArgumentError("add_grammar needs a grammar")
        made.constrain(self.engine, model.engine.vocab, lazy=lazy)
        return self

    def add_grammar_lazy_patterns(
        self, model: LlamaModel, grammar: Any, trigger_patterns: Sequence[str] = (), trigger_tokens: Sequence[int] = ()
    ) -> Self:
        """The same, asleep until a pattern matches the output or a token is accepted."""
        made = grammar_from(grammar)
        if made is None:
            raise InvalidArgumentError("add_grammar_lazy_patterns needs a grammar")
        vocab = model.engine.vocab
        self.engine.add_grammar_lazy(
            vocab, made.grammar, root=made.root, patterns=trigger_patterns, tokens=trigger_tokens, witness=made.witness(vocab)
        )
        return self

    def add_penalties(
        self, penalty_last_n: int, penalty_repeat: float, penalty_freq: float, penalty_present: float, n_vocab: int = 0
    ) -> Self:
        """Penalize tokens among the last accepted ones. `n_vocab` only matters for samplers on a device."""
        self.engine.add_penalties(n_vocab, penalty_last_n, penalty_repeat, penalty_freq, penalty_present)
        return self

    def add_dry(  # noqa: PLR0917 - as the C function
        self,
        model: LlamaModel,
        multiplier: float,
        base: float = 1.75,
        allowed_length: int = 2,
        penalty_last_n: int = 64,
        seq_breakers: Sequence[str] = DRY_SEQUENCE_BREAKERS,
    ) -> Self:
        """Penalize tokens that would extend a repetition."""
        self.engine.add_dry(
            model.engine.vocab,
            multiplier=multiplier,
            base=base,
            allowed_length=allowed_length,
            last_n=penalty_last_n,
            sequence_breakers=seq_breakers,
        )
        return self

    def add_logit_bias(self, model: LlamaModel, logit_bias: Mapping[int, float]) -> Self:
        """Add to the logits of single tokens; -inf forbids one."""
        self.engine.add_logit_bias(model.engine.vocab, logit_bias)
        return self

    def add_infill(self, model: LlamaModel) -> Self:
        """For gaps to be filled."""
        self.engine.add_infill(model.engine.vocab)
        return self

    def add_custom(self, custom: CustomSampler | Callable[[Any], object]) -> Self:
        """A sampler written in Python: a `CustomSampler`, or its apply function alone."""
        self.engine.add_custom(custom if isinstance(custom, CustomSampler) else CustomSampler(custom))
        return self

    # ---- running ----------------------------------------------------------------------------------------------

    def sample(self, ctx: LlamaContext, idx: int = -1) -> int:
        """Select a token from one row of the last evaluation, and accept it. Raises what a custom sampler raised."""
        return self.engine.sample(ctx.engine, idx)

    def apply(self, candidates: LlamaTokenDataArray) -> None:
        """Run the chain over candidates, in place, accepting nothing."""
        self.engine.apply(candidates.engine)

    def accept(self, token: int) -> None:
        """Tell the chain that a token was chosen. Raises when a grammar does not allow it."""
        self.engine.accept(token)

    def reset(self) -> None:
        """Forget accepted tokens."""
        self.engine.reset()

    def clone(self) -> LlamaSampler:
        """An independent copy with the same state."""
        return LlamaSampler.of(self.engine.clone())

    def get_seed(self) -> int:
        """The seed in use; LLAMA_DEFAULT_SEED when no sampler has one."""
        return self.engine.seed

    @property
    def names(self) -> list[str]:
        """The names of the members."""
        return self.engine.names

    def close(self) -> None:
        """Free the chain, and what was added to it."""
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
