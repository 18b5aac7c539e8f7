"""Functions of mtmd that need the packaged backends to be loaded; everything else is the binding itself."""

from __future__ import annotations

from llama_cpp._native.bindings import mtmd
from llama_cpp._native.overrides import after_backends

__all__ = ["mtmd_init_from_file"]

mtmd_init_from_file = after_backends(mtmd.mtmd_init_from_file)
