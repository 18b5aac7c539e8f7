"""What a GGUF file holds, read without loading the model: for what a loaded `llama_model` doesn't tell."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from llama_cpp._native.bindings import gguf

from .errors import ModelLoadError
from .returns import log_mark, require_pointer

if TYPE_CHECKING:
    from pathlib import Path

_SPLIT_COUNT = b"split.count"


def tensors_named(path: Path, names: tuple[str, ...]) -> frozenset[str] | None:
    """Which of `names` are tensors of the file; None where it can't tell: it is one part of several, or was deleted meanwhile.

    Raises `ModelLoadError` when it is no GGUF file any more.
    """
    if not path.is_file():
        return None
    mark = log_mark()
    pointer = gguf.gguf_init_from_file(os.fsencode(path), gguf.gguf_init_params(no_alloc=True, ctx=None))
    file = require_pointer(pointer, ModelLoadError, f"the file could not be read: {path}", mark)
    try:
        key = gguf.gguf_find_key(file, _SPLIT_COUNT)
        if key >= 0 and (gguf.gguf_get_kv_type(file, key) != gguf.GGUF_TYPE_UINT16 or gguf.gguf_get_val_u16(file, key) > 1):
            return None
        return frozenset(name for name in names if gguf.gguf_find_tensor(file, name.encode()) >= 0)
    finally:
        gguf.gguf_free(file)
