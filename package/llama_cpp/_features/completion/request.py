"""A completion request: the arguments of the public method, checked and frozen before anything is evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any

from llama_cpp._features.grammar.definition import grammar_from
from llama_cpp._features.sampling.arguments import sampling_from
from llama_cpp._features.sampling.steps import NOBODY, Participants

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from llama_cpp._features.grammar.definition import LlamaGrammar
    from llama_cpp._features.sampling.parameters import SamplingParams


@dataclass(frozen=True, kw_only=True)
class CompletionRequest:
    """What to complete, and how. Holds copies: the caller's lists stay the caller's.

    `max_tokens` None means: until the context is full. `logprobs` None means none; 0 those of the chosen tokens alone.
    """

    prompt: str | tuple[int, ...]
    suffix: str | None
    max_tokens: int | None
    stops: tuple[str, ...]
    echo: bool
    logprobs: int | None
    model: str | None
    sampling: SamplingParams
    participants: Participants = NOBODY
    grammar: LlamaGrammar | None = None
    grammar_lazy: bool = False
    active_loras: object = None
    control_vector: object = None

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any], *, recommended: Mapping[str, Any] | None = None) -> CompletionRequest:
        """The request that the arguments of `create_completion` describe; `recommended` as in `sampling_from`."""
        return cls(
            prompt=_prompt(arguments["prompt"]),
            suffix=_suffix(arguments["suffix"]),
            max_tokens=_token_limit(arguments["max_tokens"]),
            stops=_stops(arguments["stop"]),
            echo=bool(arguments["echo"]),
            logprobs=_logprobs(arguments["logprobs"]),
            model=arguments["model"],
            sampling=sampling_from(arguments, recommended=recommended),
            participants=Participants.from_arguments(arguments),
            grammar=grammar_from(arguments["grammar"], lazy=bool(arguments["grammar_lazy"])),
            grammar_lazy=bool(arguments["grammar_lazy"]),
            active_loras=arguments["active_loras"],
            control_vector=arguments["control_vector"],
        )


def _prompt(prompt: object) -> str | tuple[int, ...]:
    if isinstance(prompt, str):
        return prompt
    if isinstance(prompt, bytes):
        raise TypeError("prompt is bytes; decode it to a str, or tokenize it and pass the token ids")
    try:
        return tuple(index(token) for token in prompt)  # type: ignore[attr-defined]
    except TypeError:
        raise TypeError(f"prompt must be a str or a sequence of token ids, not {type(prompt).__name__}") from None


def _suffix(suffix: object) -> str | None:
    if suffix is not None and not isinstance(suffix, str):
        raise TypeError(f"suffix must be a str or None, not {type(suffix).__name__}")
    return suffix


def _logprobs(count: object) -> int | None:
    if count is None or count is False:
        return None
    if not hasattr(count, "__index__"):
        raise TypeError(f"logprobs must be an integer or None, not {count!r}")
    if index(count) < 0:
        raise ValueError(f"logprobs must not be negative, but is {count}")
    return index(count)


def _token_limit(max_tokens: object) -> int | None:
    if max_tokens is None:
        return None
    if isinstance(max_tokens, bool) or not hasattr(max_tokens, "__index__"):
        raise TypeError(f"max_tokens must be an integer or None, not {max_tokens!r}")
    limit = index(max_tokens)
    return None if limit < 0 else limit


def _stops(stop: str | Sequence[str] | None) -> tuple[str, ...]:
    if stop is None:
        return ()
    stops = (stop,) if isinstance(stop, str) else tuple(stop)
    for entry in stops:
        if not isinstance(entry, str):
            raise TypeError(f"stop must be a str or a list of str, but holds {entry!r}")
    return stops
