"""llama.cpp's staging API (llama-ext.h): C++ functions under their mangled names, any of which a build may lack."""

from ._native.bindings.llama_ext import *  # noqa: F403
from ._native.symbols import public_names

__all__ = public_names(globals())  # noqa: PLE0605
