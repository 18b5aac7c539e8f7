"""The parameters that shape the choice of a token, as one validated value."""

from __future__ import annotations

import math
from dataclasses import dataclass

DEFAULT_PENALTY_WINDOW = 64


@dataclass(frozen=True, kw_only=True)
class SamplingParams:
    """Immutable and comparable; the defaults are those of a plain completion.

    `temperature` <= 0, or `top_k` 1, is greedy choice. `top_k` <= 0, `top_p` >= 1, `min_p` <= 0 and
    `typical_p` >= 1 switch their filter off. Penalties look at the last `penalty_last_n` tokens, prompt
    included: 0 is none, -1 the whole context. `seed` None stands for a new seed in every request;
    it is one of 32 unsigned bits (`seeds.seed_value`).
    """

    temperature: float = 0.8
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    typical_p: float = 1.0
    min_keep: int = 0
    repeat_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    penalty_last_n: int = DEFAULT_PENALTY_WINDOW
    seed: int | None = None

    def __post_init__(self) -> None:
        for name in ("temperature", "top_p", "min_p", "typical_p", "repeat_penalty", "frequency_penalty", "presence_penalty"):
            _require_real(name, getattr(self, name))
        for name in ("top_k", "min_keep", "penalty_last_n"):
            _require_integer(name, getattr(self, name))
        if self.repeat_penalty <= 0:
            raise ValueError(f"repeat_penalty must be greater than 0, not {self.repeat_penalty}; 1.0 is no penalty")
        if self.penalty_last_n < -1:
            raise ValueError(f"penalty_last_n must be -1 (the whole context), 0 (none) or more, not {self.penalty_last_n}")
        if self.min_keep < 0:
            raise ValueError(f"min_keep must not be negative, but is {self.min_keep}")

    @property
    def greedy(self) -> bool:
        """Whether the likeliest token is always taken."""
        return self.temperature <= 0 or self.top_k == 1

    @property
    def penalizes(self) -> bool:
        """Whether earlier tokens change the choice."""
        return self.penalty_last_n != 0 and not (
            self.repeat_penalty == 1.0 and self.frequency_penalty == 0.0 and self.presence_penalty == 0.0
        )


def _require_real(name: str, value: object) -> None:
    try:
        number = float(value)  # type: ignore[arg-type]  # numpy's and other number types are welcome
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number) or isinstance(value, str | bytes):
        raise ValueError(f"{name} must be a number, not {value!r}")


def _require_integer(name: str, value: object) -> None:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ValueError(f"{name} must be an integer, not {value!r}")
