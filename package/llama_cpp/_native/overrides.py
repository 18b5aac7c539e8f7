"""Functions whose first call makes sure that the packaged backends are loaded; everything else is the binding itself.

Without backends these fail, abort the process or answer wrongly, and llama.cpp's own search for them looks into the
interpreter's folder and the current directory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from llama_cpp._native.bindings import llama

__all__ = [
    "after_backends",
    "ggml_backend_load_all",
    "llama_backend_init",
    "llama_load_model_from_file",
    "llama_model_init_from_user",
    "llama_model_load_from_file",
    "llama_model_load_from_file_ptr",
    "llama_model_load_from_splits",
    "llama_numa_init",
    "llama_print_system_info",
    "llama_supports_gpu_offload",
    "llama_supports_rpc",
]

_F = TypeVar("_F", bound=Callable[..., object])


def after_backends(function: _F) -> _F:
    """`function`, preceded by the loading of the backends, which happens once per process."""

    def call(*args: object) -> object:
        from llama_cpp._native.backends import ensure_backends  # noqa: PLC0415 - not at import time

        ensure_backends()
        return function(*args)

    call.__name__ = call.__qualname__ = function.__name__
    return cast("_F", call)


def ggml_backend_load_all() -> None:
    """Load the packaged backends: never llama.cpp's own search, which includes the current directory."""
    from llama_cpp._native.backends import ensure_backends  # noqa: PLC0415 - not at import time

    ensure_backends()


def llama_supports_gpu_offload() -> bool:
    """Whether layers can be placed on a GPU here: one of this machine, or one of a remote server that was added.

    llama.cpp itself says yes as soon as its RPC backend is loaded, which is in every wheel.
    """
    from llama_cpp._native.accelerators import gpu_devices  # noqa: PLC0415 - not at import time
    from llama_cpp._native.backends import ensure_backends  # noqa: PLC0415

    ensure_backends()
    return gpu_devices() > 0


llama_backend_init = after_backends(llama.llama_backend_init)
llama_load_model_from_file = after_backends(llama.llama_load_model_from_file)
llama_model_init_from_user = after_backends(llama.llama_model_init_from_user)
llama_model_load_from_file = after_backends(llama.llama_model_load_from_file)
llama_model_load_from_file_ptr = after_backends(llama.llama_model_load_from_file_ptr)
llama_model_load_from_splits = after_backends(llama.llama_model_load_from_splits)
llama_numa_init = after_backends(llama.llama_numa_init)
llama_print_system_info = after_backends(llama.llama_print_system_info)
llama_supports_rpc = after_backends(llama.llama_supports_rpc)
