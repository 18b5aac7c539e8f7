"""Whether a state can be loaded: its structure, and what it came from. Asked before anything native is touched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from llama_cpp._features.errors import StateMismatchError

from .compatibility import differences

if TYPE_CHECKING:
    from .snapshot import LlamaState

_FIELDS = ("input_ids", "scores", "n_tokens", "llama_state", "llama_state_size", "seed", "last_logits", "compatibility")


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """What is to be loaded into: how many tokens fit, the vocabulary, whether every token's logits are kept."""

    capacity: int
    n_vocab: int
    keeps_scores: bool
    compatibility: Mapping[str, Any]


def require_fitting(state: LlamaState, due: Expectation) -> None:
    """Raise `StateMismatchError` that names the first thing wrong, TypeError for what is no state at all."""
    missing = [name for name in _FIELDS if not hasattr(state, name)]
    if missing:
        raise TypeError(f"a LlamaState is needed, not {type(state).__name__}: it has no {missing[0]}")
    for problem in (_native_problem(state), _token_problem(state, due), _logits_problem(state, due), _origin_problem(state, due)):
        if problem:
            raise StateMismatchError(f"this state cannot be loaded: {problem}")


def _native_problem(state: LlamaState) -> str:
    if not isinstance(state.llama_state, bytes | bytearray | memoryview):
        return f"its llama_state is {type(state.llama_state).__name__}, not bytes"
    if state.llama_state_size != len(state.llama_state):
        return f"its llama_state has {len(state.llama_state)} bytes, and the size says {state.llama_state_size}"
    return "" if len(state.llama_state) else "its llama_state is empty"


def _token_problem(state: LlamaState, due: Expectation) -> str:
    ids = np.asarray(state.input_ids)
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        return "its input_ids are not a row of integers"
    if not hasattr(state.n_tokens, "__index__") or not 0 <= state.n_tokens <= len(ids):
        return f"it has {len(ids)} tokens, and n_tokens says {state.n_tokens}"
    if state.n_tokens > due.capacity:
        return f"it holds {state.n_tokens} tokens, more than the {due.capacity} of this context; use a larger n_ctx"
    used = ids[: state.n_tokens]
    if len(used) and not 0 <= int(used.min()) <= int(used.max()) < due.n_vocab:
        return f"it has tokens that are not in this vocabulary of {due.n_vocab}"
    return ""


def _logits_problem(state: LlamaState, due: Expectation) -> str:
    if state.last_logits is not None and np.shape(state.last_logits) != (due.n_vocab,):
        return f"its last_logits have shape {np.shape(state.last_logits)}, not ({due.n_vocab},)"
    shape = np.shape(state.scores)
    if np.size(state.scores) and (len(shape) != 2 or shape[1] != due.n_vocab):  # noqa: PLR2004 - rows and columns
        return f"its scores have shape {shape}, not rows of {due.n_vocab}"
    if due.keeps_scores and state.n_tokens and (not shape or shape[0] < state.n_tokens):
        return "it has no scores for all its tokens, and this Llama has logits_all=True; save it from one that has too"
    return ""


def _origin_problem(state: LlamaState, due: Expectation) -> str:
    if state.compatibility is None:  # of a former version: native code checks what it can
        return ""
    if not isinstance(state.compatibility, Mapping):
        return "its compatibility is not a mapping"
    return "; ".join(differences(state.compatibility, due.compatibility))
