"""What changes a model's answers without changing the model: LoRA adapters and control vectors.

Which of them are in force is a setting of each context (`Context.adapt`).
"""

from __future__ import annotations

import ctypes
import os
import weakref
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llama_cpp._native.bindings import llama

from .errors import AdapterError, AdapterLoadError, InvalidArgumentError
from .handle import Handle
from .returns import log_mark, require_pointer, require_zero

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from .context import Context
    from .model import Model

_VALUE_BYTES = 4096


class LoraAdapter(Handle[llama.llama_adapter_lora_p]):
    """An owned LoRA adapter of a model, loaded from a GGUF file. It is freed before the model.

    Raises `AdapterLoadError` when there is no such file, or it fits another model; with the native log lines.
    """

    def __init__(self, model: Model, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.model = model
        if not self.path.is_file():
            raise AdapterLoadError(f"the LoRA file does not exist: {self.path}")
        mark = log_mark()
        pointer = llama.llama_adapter_lora_init(model.pointer, os.fsencode(self.path))
        pointer = require_pointer(pointer, AdapterLoadError, f"the LoRA adapter could not be loaded: {self.path}", mark)
        self._users: weakref.WeakSet[Context] = weakref.WeakSet()
        self._own(pointer, llama.llama_adapter_lora_free, parent=model)

    def used_by(self, context: Context) -> None:
        """Remember who has to let go of it before it is freed."""
        self._users.add(context)

    def close(self) -> None:
        """Take it out of force everywhere, and free it."""
        for context in list(self._users):
            rest = tuple(entry for entry in context.adaptation.loras if entry[0] is not self)
            if not context.closed and rest != context.adaptation.loras:
                context.adapt(replace(context.adaptation, loras=rest))
        super().close()

    @property
    def metadata(self) -> dict[str, str]:
        """The scalar values of the file's metadata, as text."""
        pointer, found = self.pointer, {}
        for index in range(llama.llama_adapter_meta_count(pointer)):
            key = _text(partial(llama.llama_adapter_meta_key_by_index, pointer, index))
            value = _text(partial(llama.llama_adapter_meta_val_str_by_index, pointer, index))
            if key is not None and value is not None:
                found[key] = value
        return found

    @property
    def invocation_tokens(self) -> tuple[int, ...]:
        """The tokens after which an activated LoRA takes effect; empty for an ordinary one."""
        count = int(llama.llama_adapter_get_alora_n_invocation_tokens(self.pointer))
        return tuple(llama.llama_adapter_get_alora_invocation_tokens(self.pointer)[:count]) if count else ()


def _text(call: Callable[[ctypes.Array[ctypes.c_char], int], int]) -> str | None:
    buffer = ctypes.create_string_buffer(_VALUE_BYTES)
    size = call(buffer, len(buffer))
    if size >= len(buffer):
        buffer = ctypes.create_string_buffer(size + 1)
        size = call(buffer, len(buffer))
    return None if size < 0 else buffer.value.decode("utf-8", "replace")


@dataclass(frozen=True, eq=False, kw_only=True)
class ControlVector:
    """Directions that are added to the hidden state after each layer: float32 of shape (n_layer - 1, n_embd).

    The first row belongs to layer 1; layer 0 has none. Layers `first` to `last`, both included, are changed.
    """

    directions: NDArray[np.float32]
    first: int
    last: int

    @classmethod
    def of(cls, model: Model, directions: ArrayLike, *, first: int | None = None, last: int | None = None) -> ControlVector:
        """A control vector for `model`. Fewer rows than layers leave the rest unchanged; a flat array is cut into rows.

        Raises `InvalidArgumentError` when the width is not the model's, there are too many rows, or a value is not finite.
        """
        rows = np.asarray(directions, dtype=np.float32)
        width, most = model.n_embd, max(model.n_layer - 1, 0)
        if rows.ndim == 1 and rows.size % width == 0:
            rows = rows.reshape(-1, width)
        if rows.shape[1:] != (width,) or not 1 <= len(rows) <= most:
            raise InvalidArgumentError(f"a control vector of this model has 1 to {most} rows of {width} values, not the shape {rows.shape}")
        if not np.isfinite(rows).all():
            raise InvalidArgumentError("a control vector must hold finite numbers")
        whole = np.zeros((most, width), np.float32)
        whole[: len(rows)] = rows
        first, last = 1 if first is None else first, most if last is None else last
        if not 0 <= first <= last <= most:
            raise InvalidArgumentError(f"layers {first} to {last} are not within 0 to {most}")
        return cls(directions=whole, first=first, last=last)


@dataclass(frozen=True, kw_only=True)
class Adaptation:
    """Which adapters are in force with which scale, and which control vector. Equal ones compute the same."""

    loras: tuple[tuple[LoraAdapter, float], ...] = ()
    control: ControlVector | None = None


PLAIN = Adaptation()
"""The model as it is."""


def set_loras(context: llama.llama_context_p, adaptation: Adaptation) -> None:
    """Put these LoRA adapters in force on a native context, in place of those before. Raises `AdapterError`."""
    count = len(adaptation.loras)
    adapters = (ctypes.c_void_p * count)(*(lora.pointer for lora, _ in adaptation.loras))
    scales = (ctypes.c_float * count)(*(scale for _, scale in adaptation.loras))
    mark = log_mark()
    code = llama.llama_set_adapters_lora(context, adapters, count, scales)
    require_zero(code, AdapterError, "the LoRA adapters could not be put in force", mark)


def set_control_vector(context: llama.llama_context_p, vector: ControlVector | None) -> None:
    """Put a control vector in force on a native context; None takes the former one away. Raises `AdapterError`."""
    if vector is None:
        llama.llama_set_adapter_cvec(context, None, 0, 0, 0, 0)
        return
    rows = vector.directions
    mark = log_mark()
    data = rows.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
    code = llama.llama_set_adapter_cvec(context, data, rows.size, rows.shape[1], vector.first, vector.last)
    require_zero(code, AdapterError, "the control vector could not be put in force", mark)
