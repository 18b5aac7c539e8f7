"""Python runtime for llama.cpp: `Llama` and everything of `llama_cpp.llama` and the C API of `llama_cpp.llama_cpp`.

Importing this package loads no native code and writes nothing: names and modules are looked up when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__ as __version__

if TYPE_CHECKING:
    from ._engine.report import system_report as system_report
    from .llama import *  # noqa: F403
    from .llama_cpp import *  # noqa: F403

_MODULES = (
    "_ctypes_extensions", "_ggml", "_internals", "_logger", "_utils", "llama", "llama_cache", "llama_chat_format", "llama_cpp",
    "llama_cpp_ext", "llama_embedding", "llama_grammar", "llama_tokenizer", "llama_types", "mtmd_cpp",
)  # fmt: skip
_STAR_EXPORTED = ("llama", "llama_cpp")
_OWN = ("__version__", "system_report")


def __getattr__(name: str) -> Any:
    """A public name, or a module that programs reach as an attribute; found once, then kept."""
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    value: Any
    if name == "__all__":
        value = sorted({*_OWN, *(each for module in _STAR_EXPORTED for each in _exports(module))})
    elif name == "system_report":
        value = import_module("._engine.report", __name__).system_report
    elif name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    else:
        value = _exported(name)
    globals()[name] = value
    return value


def _exported(name: str) -> Any:
    for module in _STAR_EXPORTED:
        if name in _exports(module):
            return getattr(import_module(f".{module}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _exports(module: str) -> frozenset[str]:
    known = _names.get(module)
    if known is None:
        known = _names[module] = frozenset(import_module(f".{module}", __name__).__all__)
    return known


_names: dict[str, frozenset[str]] = {}


def __dir__() -> list[str]:
    return sorted({*__getattr__("__all__"), *_MODULES, "__all__"})
