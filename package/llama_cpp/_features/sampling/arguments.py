"""From the keyword arguments of the public methods to `SamplingParams`: aliases, and what is not served yet.

Nothing that a caller passes is dropped in silence: an argument is used, refused, or warned about.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from llama_cpp._features.errors import FeatureUnavailableError

from .parameters import SamplingParams
from .seeds import seed_value

if TYPE_CHECKING:
    from collections.abc import Mapping

DRY_SEQUENCE_BREAKERS = ("\n", ":", '"', "*")

UNAVAILABLE: Mapping[str, object] = {
    "active_loras": None,
    "adaptive_target": -1.0,
    "control_vector": None,
    "dry_multiplier": 0.0,
    "dynatemp_range": 0.0,
    "grammar": None,
    "grammar_lazy": False,
    "ignore_eos": False,
    "logit_bias": None,
    "logits_processor": None,
    "logprobs": None,
    "mirostat_mode": 0,
    "reasoning_budget": -1,
    "reasoning_budget_message": None,
    "reasoning_start_in_prompt": False,
    "stopping_criteria": None,
    "suffix": None,
    "top_n_sigma": -1.0,
    "use_infill": False,
    "xtc_probability": 0.0,
}
"""Arguments that switch something on which is not served yet, with the value that leaves it off. The settings that
only refine one of these (mirostat_tau, dry_base, reasoning_start, ...) mean nothing while it is off."""

REMOVED: Mapping[str, tuple[object, str]] = {
    "tfs_z": (1.0, "llama.cpp no longer has tail-free sampling"),
    "penalize_nl": (True, "llama.cpp penalizes the newline like any other token"),
}
"""Arguments of the older lineage whose effect llama.cpp has dropped: the harmless value, and why the rest is ignored."""

SAMPLING_NAMES = (
    "top_k", "top_p", "min_p", "typical_p", "min_keep", "repeat_penalty", "frequency_penalty", "penalty_last_n",
)  # fmt: skip


def sampling_from(arguments: Mapping[str, Any]) -> SamplingParams:
    """The sampling parameters in the arguments of a public method.

    Raises `FeatureUnavailableError` for an argument that asks for what is not served yet, and ValueError for
    values that make no sense.
    """
    check_available(arguments)
    fields = {name: arguments[name] for name in SAMPLING_NAMES if name in arguments}
    fields["temperature"] = arguments["temp"] if "temp" in arguments else arguments["temperature"]
    fields["presence_penalty"] = _presence_penalty(arguments)
    fields["seed"] = seed_value(arguments["seed"])
    return SamplingParams(**fields)


def check_available(arguments: Mapping[str, Any]) -> None:
    """Refuse what is not served yet, and warn about what has no effect any more."""
    for name, off in UNAVAILABLE.items():
        value = arguments.get(name, off)
        if not _same(value, off):
            raise FeatureUnavailableError(f"{name} is not available in this version; leave it at its default ({off!r})")
    for name, (harmless, reason) in REMOVED.items():
        if not _same(arguments.get(name, harmless), harmless):
            warnings.warn(f"{name} has no effect: {reason}", UserWarning, stacklevel=5)


def _presence_penalty(arguments: Mapping[str, Any]) -> Any:
    """Both spellings are accepted; given both, they have to agree."""
    one, other = arguments.get("present_penalty", 0.0), arguments.get("presence_penalty", 0.0)
    if one and other and one != other:
        raise ValueError(f"present_penalty ({one}) and presence_penalty ({other}) are the same parameter; give one of them")
    return one or other


def _same(value: object, off: object) -> bool:
    """Whether `value` leaves off what `off` leaves off: an empty collection counts as None."""
    if off is None:
        return value is None or (isinstance(value, list | tuple | dict) and not value)
    return bool(value == off)
