"""A cache at work: what a request takes out of it before its prompt is evaluated, and puts in when it has come to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_cpp._engine import logbridge
from llama_cpp._features.errors import StateMismatchError, StateRestoreError
from llama_cpp._features.generation.live import as_tokens
from llama_cpp._features.generation.reuse import whole_or_part
from llama_cpp._features.state.compatibility import describe, fingerprint
from llama_cpp._features.state.exchange import load_snapshot, take_snapshot

from .base import FindingCache
from .checkpoints import HybridCheckpointCache

if TYPE_CHECKING:
    from llama_cpp._features.generation.live import LiveSequence, TokenArray
    from llama_cpp._features.generation.turns import Turn
    from llama_cpp._features.state.snapshot import LlamaState


def require_cache(cache: Any) -> None:
    """Raise TypeError for what cannot serve as a cache of prompts."""
    if cache is None:
        return
    if isinstance(cache, HybridCheckpointCache) or not all(hasattr(cache, name) for name in ("__getitem__", "__setitem__")):
        raise TypeError(f"set_cache takes a BaseLlamaCache (LlamaRAMCache, LlamaTrieCache, LlamaDiskCache) or None, not {cache!r}")


def recall(cache: Any, live: LiveSequence, turn: Turn, tokens: TokenArray) -> None:
    """Load the state that leaves fewest of `tokens` to evaluate, when the cache has a better one than memory holds."""
    if live.context.model.has_encoder:
        return
    live.take(turn)
    kept = live.reusable(tokens)
    origin = fingerprint(describe(live.context, live.kind, turn.adaptation))
    found = cache.whole_hit(tokens, origin, longer_than=kept) if isinstance(cache, FindingCache) else _foreign_hit(cache, tokens)
    if found is None or whole_or_part(live.kind, length=found[1].n_tokens, common=found[0], wanted=len(tokens)) <= kept:
        return
    try:
        load_snapshot(live, found[1], turn, (turn.adaptation,))
    except (StateMismatchError, StateRestoreError) as error:
        logbridge.logger.warning("a state from the cache was not used: %s", error)


def remember(cache: Any, live: LiveSequence, turn: Turn, *, seed: int) -> None:
    """Save what the request has computed, unless it was aborted, or another one has used the context since."""
    if turn.aborted or live.holder is not turn or not live.length or live.context.model.has_encoder:
        return
    cache[tuple(live.tokens.tolist())] = take_snapshot(live, seed=seed)


def _foreign_hit(cache: Any, tokens: TokenArray) -> tuple[int, LlamaState] | None:
    """What a cache of someone else's making answers."""
    try:
        state = cache[tuple(tokens.tolist())]
    except KeyError:
        return None
    own = as_tokens(state.input_ids[: state.n_tokens])
    most = min(len(own), len(tokens))
    different = (own[:most] != tokens[:most]).nonzero()[0]
    return (int(different[0]) if len(different) else most), state
