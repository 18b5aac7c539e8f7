"""From the keyword arguments of the public methods to `SamplingParams`: aliases, and what has no effect any more.

Nothing that a caller passes is dropped in silence: an argument is used, refused, or warned about.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .defaults import given
from .parameters import SamplingParams
from .seeds import seed_value

if TYPE_CHECKING:
    from collections.abc import Iterable

REMOVED: Mapping[str, tuple[object, str]] = {
    "tfs_z": (1.0, "llama.cpp no longer has tail-free sampling"),
    "penalize_nl": (True, "llama.cpp penalizes the newline like any other token"),
}
"""Arguments of the older lineage whose effect llama.cpp has dropped: the harmless value, and why the rest is ignored."""

SAMPLING_NAMES = (
    "dynatemp_range", "dynatemp_exponent", "top_k", "top_p", "min_p", "typical_p", "top_n_sigma", "min_keep", "xtc_probability",
    "xtc_threshold", "repeat_penalty", "frequency_penalty", "penalty_last_n", "dry_multiplier", "dry_base", "dry_allowed_length",
    "dry_penalty_last_n", "mirostat_mode", "mirostat_tau", "mirostat_eta", "adaptive_target", "adaptive_decay", "ignore_eos",
)  # fmt: skip
"""Arguments that are fields of `SamplingParams` as they stand."""


def sampling_from(arguments: Mapping[str, Any], *, recommended: Mapping[str, Any] | None = None) -> SamplingParams:
    """The sampling parameters in the arguments of a public method.

    `recommended` takes the place of defaults that the caller left alone. Raises ValueError for values that make no
    sense.
    """
    warn_about_removed(arguments)
    fields = {name: arguments[name] for name in SAMPLING_NAMES if name in arguments}
    fields["temperature"] = arguments["temp"] if "temp" in arguments else arguments["temperature"]
    left_alone = {name: value for name, value in (recommended or {}).items() if name not in fields or not given(fields[name])}
    fields.update(left_alone)
    fields["presence_penalty"] = _presence_penalty(arguments)
    fields["dry_sequence_breakers"] = _texts("dry_seq_breakers", arguments["dry_seq_breakers"])
    fields["logit_bias"] = logit_biases(arguments["logit_bias"])
    fields["infill"] = bool(arguments.get("use_infill", False))
    fields["ignore_eos"] = bool(fields["ignore_eos"])
    fields["seed"] = seed_value(arguments["seed"])
    return SamplingParams(**fields)


def logit_biases(biases: object) -> tuple[tuple[int, float], ...]:
    """A mapping of token ids (numbers, or their digits as in JSON) to what is added to their logits."""
    if not biases:
        return ()
    if not isinstance(biases, Mapping):
        raise TypeError(f"logit_bias must be a dict of token ids and numbers, not {type(biases).__name__}")
    try:
        return tuple((int(token), float(bias)) for token, bias in biases.items())
    except (TypeError, ValueError):
        raise ValueError(f"logit_bias must be a dict of token ids and numbers, not {biases!r}") from None


def warn_about_removed(arguments: Mapping[str, Any]) -> None:
    """One warning for each argument that has no effect any more."""
    for name, (harmless, reason) in REMOVED.items():
        if arguments.get(name, harmless) != harmless:
            warnings.warn(f"{name} has no effect: {reason}", UserWarning, stacklevel=5)


def _presence_penalty(arguments: Mapping[str, Any]) -> Any:
    """Both spellings are accepted; given both, they have to agree."""
    one, other = arguments.get("present_penalty", 0.0), arguments.get("presence_penalty", 0.0)
    if one and other and one != other:
        raise ValueError(f"present_penalty ({one}) and presence_penalty ({other}) are the same parameter; give one of them")
    return one or other


def _texts(name: str, value: Iterable[str] | None) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) else tuple(value or ())
    for text in texts:
        if not isinstance(text, str) or "\0" in text:
            raise ValueError(f"{name} must be a list of str without NUL, but holds {text!r}")
    return texts
