"""Functions that live in backend plugins: found on their first call, when the plugin of this machine is known."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from llama_cpp._native.libraries import library, library_folder
from llama_cpp._native.symbols import MissingSymbolError
from llama_cpp._native.variants import plugins_in

_F = TypeVar("_F", bound=Callable[..., object])

_REGISTERED_AS = {"cpu": b"CPU", "rpc": b"RPC"}


class BackendFunction:
    """A function of a backend plugin. The first call loads the backends and finds it, in the registry or in the file."""

    def __init__(self, name: str, backend: str, argtypes: Sequence[Any], restype: Any) -> None:
        self.__name__ = name
        self.backend = backend
        self.argtypes = argtypes
        self.restype = restype
        self._native: Callable[..., Any] | None = None

    def __call__(self, *args: Any) -> Any:
        native = self._native
        if native is None:
            native = self._native = self._find()
        return native(*args)

    def __repr__(self) -> str:
        return f"<native function {self.__name__} of the {self.backend} backend>"

    def _find(self) -> Callable[..., Any]:
        from llama_cpp._native import backends  # noqa: PLC0415 - it imports bindings itself

        backends.ensure_backends()
        address = _proc_address(self.backend, self.__name__)
        if address:
            return ctypes.CFUNCTYPE(self.restype, *self.argtypes)(address)
        for file in self._files(backends.cpu_variant_path):
            try:
                function = getattr(file, self.__name__)
            except AttributeError:
                continue
            function.argtypes = list(self.argtypes)
            function.restype = self.restype
            return cast("Callable[..., Any]", function)
        raise MissingSymbolError(
            f"{self.__name__} is not exported by the {self.backend} backend in {library_folder()}. This llama.cpp "
            "does not have it: reinstall llama_cpp_python, or unset LLAMA_CPP_LIB_PATH if that chose other libraries."
        )

    def _files(self, cpu_variant_path: Callable[[], Path]) -> Iterator[ctypes.CDLL]:
        """Where the function may be: in the core libraries of a build without plugins, else in the plugin's file."""
        yield library("ggml")
        path = cpu_variant_path() if self.backend == "cpu" else _plugin_path(self.backend)
        if path is None:
            raise MissingSymbolError(
                f"{self.__name__} needs the {self.backend} backend, and {library_folder()} has no such plugin: "
                "install a wheel that carries it, or set LLAMA_CPP_LIB_PATH to a folder that does."
            )
        yield ctypes.CDLL(str(path))


def backend_function(backend: str, argtypes: Sequence[Any], restype: Any) -> Callable[[_F], _F]:
    """Replace a typed declaration by the function of that name in a backend plugin."""

    def bind(declaration: _F) -> _F:
        return cast("_F", BackendFunction(declaration.__name__, backend, argtypes, restype))

    return bind


def _proc_address(backend: str, name: str) -> int | None:
    """What the backend itself serves under `name`."""
    from llama_cpp._native.bindings import ggml_backend  # noqa: PLC0415 - costs nothing until a function is called

    registry = ggml_backend.ggml_backend_reg_by_name(_REGISTERED_AS[backend])
    return ggml_backend.ggml_backend_reg_get_proc_address(registry, name.encode()) if registry else None


def _plugin_path(family: str) -> Path | None:
    return next((plugin.path for plugin in plugins_in(library_folder()) if plugin.family == family), None)
