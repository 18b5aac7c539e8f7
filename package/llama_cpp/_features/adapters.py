"""The LoRA adapters of one model by name, and what a request says of them: which, how strong, and a control vector."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from llama_cpp._engine.adapter import PLAIN, Adaptation, ControlVector, LoraAdapter

if TYPE_CHECKING:
    import os

    from llama_cpp._engine.model import Model


class Adapters:
    """The registry. `default` is in force for requests that say nothing."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._loras: dict[str, LoraAdapter] = {}
        self._vectors: tuple[object, ControlVector] | None = None
        self.default: tuple[tuple[str, float], ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the loaded adapters, in the order of loading."""
        return list(self._loras)

    def load(self, name: str, path: str | os.PathLike[str]) -> None:
        """Load an adapter under a new name.

        Raises ValueError for a name in use, `AdapterLoadError` for a file that is missing or fits another model.
        """
        if not isinstance(name, str) or not name:
            raise ValueError(f"the name of a LoRA adapter must be a str that is not empty, not {name!r}")
        if name in self._loras:
            raise ValueError(f"a LoRA adapter {name!r} is loaded already; unload it first, or choose another name")
        self._loras[name] = LoraAdapter(self._model, path)

    def remove(self, name: str) -> LoraAdapter:
        """Take an adapter out of the registry; the caller closes it when nothing uses it any more. KeyError if unknown."""
        self._named(name)
        self.default = tuple(entry for entry in self.default if entry[0] != name)
        return self._loras.pop(name)

    def select(self, active: object = None, control: object = None) -> Adaptation:
        """What a request's `active_loras` and `control_vector` come to."""
        chosen = self.default if active is None else _scales(active)
        if not chosen and control is None:
            return PLAIN
        return Adaptation(loras=tuple((self._named(name), scale) for name, scale in chosen), control=self._vector(control))

    def _named(self, name: str) -> LoraAdapter:
        found = self._loras.get(name)
        if found is None:
            raise KeyError(f"no LoRA adapter {name!r} is loaded; loaded are: {', '.join(self._loras) or 'none'}")
        return found

    def _vector(self, value: object) -> ControlVector | None:
        """The same object given again is the same vector: what was evaluated with it can be used again."""
        if value is None or isinstance(value, ControlVector):
            return value
        if self._vectors is None or self._vectors[0] is not value:
            self._vectors = (value, _control_vector(self._model, value))
        return self._vectors[1]


def _control_vector(model: Model, value: Any) -> ControlVector:
    if isinstance(value, Mapping):
        unknown = set(value) - {"data", "layer_start", "layer_end"}
        if unknown or "data" not in value:
            raise ValueError(f"a control vector has data, layer_start and layer_end, not {', '.join(sorted(map(str, value)))}")
        return ControlVector.of(model, value["data"], first=value.get("layer_start"), last=value.get("layer_end"))
    return ControlVector.of(model, value)


def _scales(active: Any) -> tuple[tuple[str, float], ...]:
    """Names and scales from a dict of them, or a list of names, pairs or dicts with `name` and `scale`."""
    if isinstance(active, str):
        active = [active]
    entries = active.items() if isinstance(active, Mapping) else active
    scales: dict[str, float] = {}
    for entry in entries:
        name, scale = _entry(entry)
        if name in scales:
            raise ValueError(f"active_loras names {name!r} twice")
        if not math.isfinite(scale):
            raise ValueError(f"the scale of LoRA adapter {name!r} must be finite, not {scale}")
        scales[name] = scale
    return tuple(scales.items())


def _entry(entry: Any) -> tuple[str, float]:
    if isinstance(entry, str):
        return entry, 1.0
    try:
        if isinstance(entry, Mapping):
            return str(entry["name"]), float(entry.get("scale", 1.0))
        name, scale = entry
        return str(name), float(scale)
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"active_loras must hold names, pairs of name and scale, or dicts with name and scale, not {entry!r}") from None
