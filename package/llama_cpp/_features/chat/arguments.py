"""The arguments of a chat completion: both lineages' names with their defaults, and what of them makes a completion request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from llama_cpp._features.completion.request import CompletionRequest
from llama_cpp._features.sampling.defaults import (
    MIN_P,
    MIROSTAT_ETA,
    MIROSTAT_MODE,
    MIROSTAT_TAU,
    PENALTY_LAST_N,
    REPEAT_PENALTY,
    TOP_K,
    TOP_P,
    XTC_PROBABILITY,
    XTC_THRESHOLD,
    Default,
)
from llama_cpp._features.sampling.parameters import DRY_SEQUENCE_BREAKERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHAT_TEMPERATURE = Default(0.2)

PUBLISHED: Mapping[str, Any] = MappingProxyType({
    "functions": None, "function_call": None, "tools": None, "tool_choice": None, "temperature": CHAT_TEMPERATURE, "top_p": TOP_P,
    "top_k": TOP_K, "top_n_sigma": -1.0, "min_p": MIN_P, "typical_p": 1.0, "stream": False, "stop": (), "seed": None,
    "response_format": None, "max_tokens": None, "present_penalty": 0.0, "frequency_penalty": 0.0, "repeat_penalty": REPEAT_PENALTY,
    "penalty_last_n": PENALTY_LAST_N, "mirostat_mode": MIROSTAT_MODE, "mirostat_tau": MIROSTAT_TAU, "mirostat_eta": MIROSTAT_ETA,
    "dynatemp_range": 0.0, "dynatemp_exponent": 1.0, "min_keep": 0, "xtc_threshold": XTC_THRESHOLD, "xtc_probability": XTC_PROBABILITY,
    "dry_multiplier": 0.0, "dry_base": 1.75, "dry_allowed_length": 2, "dry_penalty_last_n": 64, "dry_seq_breakers": DRY_SEQUENCE_BREAKERS,
    "adaptive_target": -1.0, "adaptive_decay": 0.9, "use_infill": False, "model": None, "logit_bias": None, "logits_processor": None,
    "grammar": None, "grammar_lazy": False, "active_loras": None, "control_vector": None, "logprobs": None, "top_logprobs": None,
    "assistant_prefill": False, "add_generation_prompt": True, "reasoning_budget": -1, "reasoning_start": "<think>",
    "reasoning_end": "</think>", "reasoning_budget_message": None, "reasoning_start_in_prompt": False,
    "reasoning_start_max_tokens": 32, "presence_penalty": 0.0, "tfs_z": 1.0,
})  # fmt: skip
"""What `create_chat_completion` of either lineage takes beside `messages`."""

ADDED: Mapping[str, Any] = MappingProxyType({
    "chat_template_kwargs": None, "documents": None, "enable_thinking": None, "parallel_tool_calls": True, "n": 1, "min_tokens": 0,
    "max_completion_tokens": None, "stream_options": None, "stopping_criteria": None, "ignore_eos": False,
})  # fmt: skip
"""What this distribution takes beside that, by keyword."""

DEFAULTS: Mapping[str, Any] = MappingProxyType({**PUBLISHED, **ADDED})


def complete_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """All arguments: those given, and the defaults of the others. TypeError naming an argument that does not exist."""
    for name in given:
        if name not in DEFAULTS:
            raise TypeError(f"a chat completion takes no argument {name!r}")
    return {**DEFAULTS, **given}


def completion_request(
    arguments: Mapping[str, Any],
    prompt: Sequence[int],
    *,
    stops: Sequence[str],
    criteria: Sequence[Any],
    end_tokens: Sequence[int],
    recommended: Mapping[str, Any],
) -> CompletionRequest:
    """The request to complete `prompt`, which the arguments describe. `end_tokens` end an answer, but not too early."""
    processors = _several(arguments["logits_processor"])
    if arguments["min_tokens"]:
        processors.append(EndsForbidden(_count("min_tokens", arguments["min_tokens"]), end_tokens))
    limit = arguments["max_completion_tokens"] if arguments["max_tokens"] is None else arguments["max_tokens"]
    return CompletionRequest.from_arguments(
        {
            **arguments,
            "prompt": prompt,
            "suffix": None,
            "echo": False,
            "stop": stops,
            "max_tokens": limit or None,
            "logprobs": logprob_count(arguments["logprobs"], arguments["top_logprobs"]),
            "logits_processor": processors or None,
            "stopping_criteria": [*_several(arguments["stopping_criteria"]), *criteria] or None,
        },
        recommended=recommended,
    )


def logprob_count(logprobs: object, top_logprobs: object) -> int | None:
    """How many of the likeliest tokens an answer names beside each token; None for no log-probabilities at all."""
    if not logprobs:
        return None
    if top_logprobs is not None:
        return _count("top_logprobs", top_logprobs)
    return 0 if isinstance(logprobs, bool) else _count("logprobs", logprobs)


def answers(count: object) -> int:
    """The argument `n`: how many answers."""
    number = _count("n", 1 if count is None else count)
    if number < 1:
        raise ValueError(f"n must be 1 or more, not {count!r}")
    return number


class EndsForbidden:
    """Forbids the tokens that end an answer until it has `least` tokens. A logits processor for one run."""

    def __init__(self, least: int, end_tokens: Sequence[int]) -> None:
        self._least = least
        self._ends = list(end_tokens)
        self._prompt: int | None = None

    def __call__(self, tokens: NDArray[np.intc], logits: NDArray[np.single]) -> NDArray[np.single]:
        if self._prompt is None:
            self._prompt = len(tokens)
        if len(tokens) - self._prompt < self._least:
            logits[self._ends] = -np.inf
        return logits


def _several(callbacks: Any) -> list[Any]:
    if callbacks is None:
        return []
    return [callbacks] if callable(callbacks) else list(callbacks)


def _count(name: str, value: object) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an integer, not {value!r}")
    number = int(value.__index__())
    if number < 0:
        raise ValueError(f"{name} must not be negative, but is {number}")
    return number
