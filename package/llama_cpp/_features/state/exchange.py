"""Taking snapshots of a live sequence, and loading them into one. Whose turn it is, is the caller's business."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from llama_cpp._engine.errors import StateError
from llama_cpp._features.errors import FeatureUnavailableError, StateRestoreError

from .compatibility import ADAPTERS, adapters_digest, describe
from .snapshot import LlamaState
from .validation import Expectation, require_fitting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from llama_cpp._engine.adapter import Adaptation
    from llama_cpp._features.generation.live import LiveSequence
    from llama_cpp._features.generation.turns import Turn


def take_snapshot(live: LiveSequence, *, seed: int) -> LlamaState:
    """All that `live` holds, copied: nothing of it grows with n_ctx."""
    context = live.context
    _require_whole_state(live)
    tokens, scores = live.tokens, live.scores
    row = context.logits(-1) if context.n_outputs and len(tokens) else None
    native = context.state.save()
    return LlamaState(
        input_ids=tokens,
        scores=np.zeros((0, context.n_vocab), np.single) if scores is None else scores.rows[: len(tokens)].copy(),
        n_tokens=len(tokens),
        llama_state=native,
        llama_state_size=len(native),
        seed=seed,
        last_logits=row.copy() if row is not None and len(row) == context.n_vocab else None,
        compatibility=describe(context, live.kind, context.adaptation),
    )


def load_snapshot(live: LiveSequence, state: LlamaState, turn: Turn, adaptations: Iterable[Adaptation]) -> None:
    """Hold what `state` holds, with that of the `adaptations` that it was computed with.

    Raises `StateMismatchError`, with nothing changed, for a state that does not fit; `StateRestoreError`, with everything
    forgotten, when native code refuses it.
    """
    context = live.context
    _require_whole_state(live)
    turn.adaptation = _computed_with(state, tuple(adaptations))
    require_fitting(
        state,
        Expectation(
            capacity=live.capacity,
            n_vocab=context.n_vocab,
            keeps_scores=live.scores is not None,
            compatibility=describe(context, live.kind, turn.adaptation),
        ),
    )
    live.take(turn)
    logits = None if state.last_logits is None else np.array(state.last_logits, np.single)
    rows = np.asarray(state.scores, np.single)[: state.n_tokens] if live.scores is not None else None
    try:
        live.load(state.tokens, bytes(state.llama_state), logits=logits, rows=rows)
    except StateError as error:
        raise StateRestoreError(f"Failed to set llama state data, the context is empty now: {error}") from error


def _computed_with(state: LlamaState, adaptations: tuple[Adaptation, ...]) -> Adaptation:
    told = state.compatibility.get(ADAPTERS) if isinstance(state.compatibility, Mapping) else None
    matching = [each for each in adaptations if adapters_digest(each) == told]
    return (matching or list(adaptations))[0]


def _require_whole_state(live: LiveSequence) -> None:
    if live.context.model.has_encoder:
        raise FeatureUnavailableError("states of models with an encoder are not available: what the encoder made is in no state")
