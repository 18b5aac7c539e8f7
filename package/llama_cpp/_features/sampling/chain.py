"""From sampling parameters to llama.cpp's native sampler chain, in the order that llama.cpp itself applies them.

Which samplers, in which order and with which numbers, is plain data (`stages`); making the native chain of it is
one short function.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from llama_cpp._engine.sampler import SamplerChain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from llama_cpp._engine.vocab import Vocab

    from .parameters import SamplingParams

Stage = tuple[str, tuple[Any, ...]]


def stages(params: SamplingParams, *, n_vocab: int, n_ctx: int, seed: int) -> list[Stage]:
    """The samplers to chain: the names that the engine has for them, and their arguments. The last one selects.

    Filters that cannot remove anything are left out: each costs a pass over the vocabulary.
    """
    chosen: list[Stage] = []
    if params.penalizes:
        window = penalty_window(params, n_ctx)
        chosen.append(("penalties", (n_vocab, window, params.repeat_penalty, params.frequency_penalty, params.presence_penalty)))
    if params.greedy:
        return [*chosen, ("greedy", ())]
    if params.top_k > 0:
        chosen.append(("top_k", (params.top_k,)))
    if params.typical_p < 1:
        chosen.append(("typical", (params.typical_p, params.min_keep)))
    if params.top_p < 1:
        chosen.append(("top_p", (params.top_p, params.min_keep)))
    if params.min_p > 0:
        chosen.append(("min_p", (params.min_p, params.min_keep)))
    if params.temperature != 1:
        chosen.append(("temp", (params.temperature,)))
    return [*chosen, ("dist", (seed,))]


def penalty_window(params: SamplingParams, n_ctx: int) -> int:
    """How many of the last tokens the penalties look at."""
    return n_ctx if params.penalty_last_n < 0 else params.penalty_last_n


def build_chain(params: SamplingParams, vocab: Vocab, *, n_ctx: int, seed: int, history: Iterable[int] = ()) -> SamplerChain:
    """The native chain, which the caller closes. `history` is what the penalties have already seen, oldest first."""
    chain = SamplerChain()
    try:
        if vocab.suppress_tokens:
            chain.add_logit_bias(vocab, dict.fromkeys(vocab.suppress_tokens, -math.inf))
        for name, arguments in stages(params, n_vocab=vocab.n_tokens, n_ctx=n_ctx, seed=seed):
            getattr(chain, f"add_{name}")(*arguments)
        if params.penalizes:
            for token in history:
                chain.accept(int(token))
    except BaseException:
        chain.close()
        raise
    return chain
