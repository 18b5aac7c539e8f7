"""The C API of mtmd, llama.cpp's multimodal library, and of its helper functions, verbatim."""

from ._native.bindings.mtmd import *  # noqa: F403
from ._native.bindings.mtmd_helper import *  # noqa: F403
from ._native.library_attributes import mtmd_attributes as __getattr__  # noqa: F401
from ._native.mtmd_overrides import *  # noqa: F403
from ._native.symbols import public_names

__all__ = public_names(globals())  # noqa: PLE0605
