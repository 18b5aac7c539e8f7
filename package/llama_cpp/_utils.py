"""Small things that programs import from here."""

from ._features.internals.quiet import suppress_stdout_stderr
from ._features.internals.singleton import MetaSingleton, Singleton

__all__ = ["MetaSingleton", "Singleton", "suppress_stdout_stderr"]
