"""The root of every exception this package raises, and the failures of loading native code.

The rest of the tree grows from `LlamaError` in the engine layer.
"""

from __future__ import annotations


class LlamaError(RuntimeError):
    """Root of all exceptions raised by this package."""


class NativeLibraryError(LlamaError):
    """A native library is missing, damaged, or lacks something that it depends on."""


class BackendLoadError(LlamaError):
    """No compute backend could be loaded, so no model can run."""
