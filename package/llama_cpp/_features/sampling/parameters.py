"""The parameters that shape the choice of a token, as one validated value."""

from __future__ import annotations

import math
from dataclasses import dataclass

DEFAULT_PENALTY_WINDOW = 64
DRY_SEQUENCE_BREAKERS = ("\n", ":", '"', "*")

MIROSTAT_MODES = (0, 1, 2)
MIROSTAT_WINDOW = 100
"""The candidates from which mirostat 1 estimates the exponent of Zipf's law, as llama.cpp has it."""

_REALS = (
    "temperature", "dynatemp_range", "dynatemp_exponent", "top_p", "min_p", "typical_p", "top_n_sigma", "xtc_probability",
    "xtc_threshold", "repeat_penalty", "frequency_penalty", "presence_penalty", "dry_multiplier", "dry_base", "mirostat_tau",
    "mirostat_eta", "adaptive_target", "adaptive_decay",
)  # fmt: skip
_INTEGERS = ("top_k", "min_keep", "penalty_last_n", "dry_allowed_length", "dry_penalty_last_n", "mirostat_mode")
SAMPLER_ORDER = ("penalties", "dry", "top_n_sigma", "top_k", "typ_p", "top_p", "min_p", "xtc", "infill", "temperature")
"""The samplers of the chain by the names that llama.cpp gives them, in its own order; infill takes part on request."""

_UNLIMITED = ("top_p", "min_p", "typical_p", "top_n_sigma", "temperature")
"""Filters that infinity switches off, or that a huge value makes meaningless and harmless."""


@dataclass(frozen=True, kw_only=True)
class SamplingParams:
    """Immutable and comparable; the defaults are those of a plain completion.

    `temperature` <= 0, or `top_k` 1, is greedy choice. `top_k` <= 0, `top_p` >= 1, `min_p` <= 0, `typical_p` >= 1 and
    `top_n_sigma` <= 0 switch their filter off; `min_keep` is the number of tokens that those by probability leave at least.
    Penalties look at the last `penalty_last_n` tokens, prompt included, and DRY at the last `dry_penalty_last_n`: 0 is
    none, -1 the whole context. `dynatemp_range` > 0 lets the temperature follow the entropy. `xtc_probability` > 0
    excludes top choices. `mirostat_mode` 1 or 2, and `adaptive_target` >= 0, choose the token in their own way.
    `logit_bias` is added before everything else; `ignore_eos` forbids all tokens that end a generation. `order` names
    the samplers that take part, first to last, as `general.sampling.sequence` of a model's file does. `seed` None
    stands for a new seed in every request; it is one of 32 unsigned bits (`seeds.seed_value`).
    """

    temperature: float = 0.8
    dynatemp_range: float = 0.0
    dynatemp_exponent: float = 1.0
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    typical_p: float = 1.0
    top_n_sigma: float = -1.0
    min_keep: int = 0
    xtc_probability: float = 0.0
    xtc_threshold: float = 0.1
    repeat_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    penalty_last_n: int = DEFAULT_PENALTY_WINDOW
    dry_multiplier: float = 0.0
    dry_base: float = 1.75
    dry_allowed_length: int = 2
    dry_penalty_last_n: int = DEFAULT_PENALTY_WINDOW
    dry_sequence_breakers: tuple[str, ...] = DRY_SEQUENCE_BREAKERS
    mirostat_mode: int = 0
    mirostat_tau: float = 5.0
    mirostat_eta: float = 0.1
    adaptive_target: float = -1.0
    adaptive_decay: float = 0.9
    infill: bool = False
    ignore_eos: bool = False
    logit_bias: tuple[tuple[int, float], ...] = ()
    order: tuple[str, ...] = SAMPLER_ORDER
    seed: int | None = None

    def __post_init__(self) -> None:
        for name in _REALS:
            _require_real(name, getattr(self, name), finite=name not in _UNLIMITED)
        for name in _INTEGERS:
            _require_integer(name, getattr(self, name))
        for name in ("penalty_last_n", "dry_penalty_last_n"):
            if getattr(self, name) < -1:
                raise ValueError(f"{name} must be -1 (the whole context), 0 (none) or more, not {getattr(self, name)}")
        for name in ("min_keep", "dry_allowed_length", "dynatemp_range"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative, but is {getattr(self, name)}")
        if self.repeat_penalty <= 0:
            raise ValueError(f"repeat_penalty must be greater than 0, not {self.repeat_penalty}; 1.0 is no penalty")
        if self.mirostat_mode not in MIROSTAT_MODES:
            raise ValueError(f"mirostat_mode must be 0 (off), 1 or 2, not {self.mirostat_mode}")
        self._check_ranges()

    def _check_ranges(self) -> None:
        if not 0 <= self.xtc_probability <= 1:
            raise ValueError(f"xtc_probability must lie between 0 and 1, not at {self.xtc_probability}")
        if self.adaptive_target > 1:
            raise ValueError(f"adaptive_target must be a probability, or negative for none, not {self.adaptive_target}")
        if not 0 <= self.adaptive_decay < 1:
            raise ValueError(f"adaptive_decay must be at least 0 and less than 1, not {self.adaptive_decay}")
        strangers = [name for name in self.order if name not in (*SAMPLER_ORDER, "adaptive_p")]
        if strangers:
            raise ValueError(f"there is no sampler {strangers[0]!r}; choose from {', '.join(SAMPLER_ORDER)}")
        for token, bias in self.logit_bias:
            if math.isnan(bias) or bias == math.inf:
                raise ValueError(f"logit_bias of token {token} must be a number, or -inf to forbid it, not {bias}")

    @property
    def greedy(self) -> bool:
        """Whether the likeliest token is always taken."""
        return self.temperature <= 0 or self.top_k == 1

    @property
    def penalizes(self) -> bool:
        """Whether earlier tokens change the choice by how often they occurred."""
        return self.penalty_last_n != 0 and not (
            self.repeat_penalty == 1.0 and self.frequency_penalty == 0.0 and self.presence_penalty == 0.0
        )

    @property
    def dry(self) -> bool:
        """Whether the token that would extend a repetition is made less likely."""
        return self.dry_multiplier != 0 and self.dry_base >= 1 and self.dry_penalty_last_n != 0

    @property
    def adaptive(self) -> bool:
        """Whether adaptive-p chooses the token."""
        return self.adaptive_target >= 0

    def window(self, n_ctx: int) -> int:
        """How many of the last tokens change the choice of the next one, in a context of `n_ctx`."""
        windows = [self.penalty_last_n] * self.penalizes + [self.dry_penalty_last_n] * self.dry
        return max((n_ctx if size < 0 else size for size in windows), default=0)


def _require_real(name: str, value: object, *, finite: bool) -> None:
    try:
        number = float(value)  # type: ignore[arg-type]  # numpy's and other number types are welcome
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number) or isinstance(value, str | bytes):
        raise ValueError(f"{name} must be a number, not {value!r}")
    if finite and math.isinf(number):
        raise ValueError(f"{name} must be finite, not {value!r}")


def _require_integer(name: str, value: object) -> None:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ValueError(f"{name} must be an integer, not {value!r}")
