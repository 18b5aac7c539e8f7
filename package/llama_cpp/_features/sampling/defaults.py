"""Numbers that nobody gave: the signatures' defaults, which a model's own recommendations replace.

llama.cpp's programs start from the sampling parameters in a model's file (`general.sampling.*`) and let the user's
override them. So a default has to be told from the same number given by the caller: it is one by its type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Default(float):
    """A number that stands for "not given"; else an ordinary float."""

    __slots__ = ()


class DefaultInt(int):
    """The same for integers."""

    __slots__ = ()


TEMPERATURE = Default(0.8)
TOP_P = Default(0.95)
MIN_P = Default(0.05)
XTC_PROBABILITY = Default(0.0)
XTC_THRESHOLD = Default(0.1)
REPEAT_PENALTY = Default(1.0)
MIROSTAT_TAU = Default(5.0)
MIROSTAT_ETA = Default(0.1)
TOP_K = DefaultInt(40)
PENALTY_LAST_N = DefaultInt(64)
MIROSTAT_MODE = DefaultInt(0)

_RECOMMENDED: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "top_k": ("top_k", int),
    "top_p": ("top_p", float),
    "min_p": ("min_p", float),
    "xtc_probability": ("xtc_probability", float),
    "xtc_threshold": ("xtc_threshold", float),
    "temperature": ("temp", float),
    "penalty_last_n": ("penalty_last_n", int),
    "repeat_penalty": ("penalty_repeat", float),
    "mirostat_mode": ("mirostat", int),
    "mirostat_tau": ("mirostat_tau", float),
    "mirostat_eta": ("mirostat_eta", float),
    "order": ("sequence", lambda text: tuple(name for name in text.split(";") if name)),
}
"""Parameters and what the file calls them (`llama_model_meta_key`)."""


def given(value: object) -> bool:
    """Whether a caller gave the number."""
    return not isinstance(value, Default | DefaultInt)


def recommended(metadata: Mapping[str, str]) -> dict[str, Any]:
    """The sampling parameters that a model's file recommends; what cannot be read is none."""
    found: dict[str, Any] = {}
    for name, (key, read) in _RECOMMENDED.items():
        text = metadata.get(f"general.sampling.{key}")
        if text is not None:
            try:
                found[name] = read(text)
            except ValueError:
                continue
    return found
