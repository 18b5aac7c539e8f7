"""Attributes of the facade modules that need an open library: computed when asked for, so that imports open nothing."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import CDLL

from llama_cpp._native.libraries import library

__all__ = ["ggml_attributes", "llama_attributes", "mtmd_attributes"]


def _libraries(module: str, names: dict[str, str]) -> Callable[[str], CDLL]:
    def attribute(name: str) -> CDLL:
        if name in names:
            return library(names[name])
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return attribute


llama_attributes = _libraries("llama_cpp.llama_cpp", {"_lib": "llama"})
mtmd_attributes = _libraries("llama_cpp.mtmd_cpp", {"_libmtmd": "mtmd"})
ggml_attributes = _libraries("llama_cpp._ggml", {"libggml": "ggml", "libggml_base": "ggml-base"})
