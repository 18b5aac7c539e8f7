"""From sampling parameters to llama.cpp's native sampler chain, in the order that llama.cpp itself applies them.

Which samplers, in which order and with which numbers, is plain data (`stages`); making the native chain of it is
one short function.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from llama_cpp._engine.sampler import SamplerChain

from .parameters import MIROSTAT_WINDOW

if TYPE_CHECKING:
    from llama_cpp._engine.custom_sampler import CustomSampler
    from llama_cpp._engine.vocab import Tokens, Vocab

    from .parameters import SamplingParams


class Stage(NamedTuple):
    """One sampler: the name that the engine has for it, and its arguments."""

    name: str
    arguments: Sequence[Any] = ()
    options: Mapping[str, Any] = MappingProxyType({})


def stages(params: SamplingParams, vocab: Vocab, *, n_ctx: int, seed: int) -> list[Stage]:
    """The samplers to chain. The last one selects.

    Samplers that cannot change anything are left out: each costs a pass over the vocabulary.
    """
    biases = _biases(params, vocab)
    first = [Stage("logit_bias", (vocab, biases))] if biases else []
    available = {**_penalties(params, vocab, n_ctx), **_filters(params, vocab, seed), **_temperature(params)}
    if params.greedy:
        kept: tuple[str, ...] = ("penalties", "dry")
        last = Stage("greedy")
    elif params.mirostat_mode:
        kept = ("penalties", "dry", "temperature")
        last = _mirostat(params, vocab, seed)
    else:
        kept = tuple(available)
        last = Stage("adaptive_p", (params.adaptive_target, params.adaptive_decay, seed)) if params.adaptive else Stage("dist", (seed,))
    return [*first, *(available[name] for name in params.order if name in kept and name in available), last]


def _biases(params: SamplingParams, vocab: Vocab) -> dict[int, float]:
    """What is added to single logits: what the model's file suppresses and `ignore_eos` forbids stays forbidden."""
    biases: dict[int, float] = {}
    for token, bias in params.logit_bias:
        biases[token] = biases.get(token, 0.0) + bias
    forbidden = (*vocab.suppress_tokens, *(vocab.eog_tokens if params.ignore_eos else ()))
    return {**biases, **dict.fromkeys(forbidden, -math.inf)}


def _penalties(params: SamplingParams, vocab: Vocab, n_ctx: int) -> dict[str, Stage]:
    """What makes tokens less likely for what came before."""
    made: dict[str, Stage] = {}
    if params.penalizes:
        strengths = (params.repeat_penalty, params.frequency_penalty, params.presence_penalty)
        made["penalties"] = Stage("penalties", (vocab.n_tokens, _within(params.penalty_last_n, n_ctx), *strengths))
    if params.dry:
        options = {
            "multiplier": params.dry_multiplier,
            "base": params.dry_base,
            "allowed_length": params.dry_allowed_length,
            "last_n": _within(params.dry_penalty_last_n, n_ctx),
            "sequence_breakers": params.dry_sequence_breakers,
        }
        made["dry"] = Stage("dry", (vocab,), options)
    return made


def _filters(params: SamplingParams, vocab: Vocab, seed: int) -> dict[str, Stage]:
    """What drops tokens."""
    keep = params.min_keep
    candidates = {
        "top_n_sigma": (params.top_n_sigma > 0, Stage("top_n_sigma", (params.top_n_sigma,))),
        "top_k": (params.top_k > 0, Stage("top_k", (params.top_k,))),
        "typ_p": (params.typical_p < 1, Stage("typical", (params.typical_p, keep))),
        "top_p": (params.top_p < 1, Stage("top_p", (params.top_p, keep))),
        "min_p": (params.min_p > 0, Stage("min_p", (params.min_p, keep))),
        "xtc": (params.xtc_probability > 0, Stage("xtc", (params.xtc_probability, params.xtc_threshold, keep, seed))),
        "infill": (params.infill, Stage("infill", (vocab,))),
    }
    return {name: stage for name, (wanted, stage) in candidates.items() if wanted}


def _temperature(params: SamplingParams) -> dict[str, Stage]:
    if params.dynatemp_range > 0:
        return {"temperature": Stage("temp_ext", (params.temperature, params.dynatemp_range, params.dynatemp_exponent))}
    return {"temperature": Stage("temp", (params.temperature,))} if params.temperature != 1 else {}


def _mirostat(params: SamplingParams, vocab: Vocab, seed: int) -> Stage:
    if params.mirostat_mode == 1:
        return Stage("mirostat", (vocab.n_tokens, seed, params.mirostat_tau, params.mirostat_eta, MIROSTAT_WINDOW))
    return Stage("mirostat_v2", (seed, params.mirostat_tau, params.mirostat_eta))


def _within(window: int, n_ctx: int) -> int:
    return n_ctx if window < 0 else window


def build_chain(
    params: SamplingParams, vocab: Vocab, *, n_ctx: int, seed: int, history: Tokens = (), custom: Sequence[CustomSampler] = ()
) -> SamplerChain:
    """The native chain, which the caller closes. Samplers written in Python, `custom`, come before all others.

    `history` is what came before, oldest first: as much of it as the parameters look back at is shown to the chain.
    """
    chain = SamplerChain()
    try:
        for each in custom:
            chain.add_custom(each)
        for stage in stages(params, vocab, n_ctx=n_ctx, seed=seed):
            getattr(chain, f"add_{stage.name}")(*stage.arguments, **stage.options)
        window = params.window(n_ctx)
        for token in history[-window:] if window else ():
            chain.accept(int(token))
    except BaseException:
        chain.close()
        raise
    return chain
