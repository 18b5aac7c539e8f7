"""The C API of llama.cpp, verbatim: functions, structs, enumerations and constants of llama.h, and what of ggml it needs."""

from ctypes import byref  # noqa: F401

from ._native.bindings.constants.ggml import *  # noqa: F403
from ._native.bindings.constants.ggml_backend import *  # noqa: F403
from ._native.bindings.constants.ggml_cpu import *  # noqa: F403
from ._native.bindings.constants.llama_cparams import *  # noqa: F403
from ._native.bindings.constants.llama_vocab import *  # noqa: F403
from ._native.bindings.declarations.ggml import *  # noqa: F403
from ._native.bindings.declarations.ggml_backend import *  # noqa: F403
from ._native.bindings.llama import *  # noqa: F403
from ._native.legacy import *  # noqa: F403
from ._native.legacy import __all__ as _legacy_names
from ._native.library_attributes import llama_attributes as __getattr__  # noqa: F401
from ._native.overrides import *  # noqa: F403
from ._native.symbols import public_names

__all__ = sorted({*public_names(globals()), *_legacy_names, "byref"})  # noqa: PLE0605
