"""The C API of ggml, verbatim: tensors, backends, allocation, training and the GGUF file format."""

from ._native.bindings.ggml import *  # noqa: F403
from ._native.bindings.ggml_alloc import *  # noqa: F403
from ._native.bindings.ggml_backend import *  # noqa: F403
from ._native.bindings.ggml_cpu import *  # noqa: F403
from ._native.bindings.ggml_opt import *  # noqa: F403
from ._native.bindings.ggml_rpc import *  # noqa: F403
from ._native.bindings.gguf import *  # noqa: F403
from ._native.legacy import GGMLStatus
from ._native.library_attributes import ggml_attributes as __getattr__  # noqa: F401
from ._native.overrides import ggml_backend_load_all  # noqa: F401
from ._native.symbols import public_names

__all__ = [*public_names(globals()), "GGMLStatus"]  # noqa: PLE0604
