"""Getting the native side ready, once: logging first, then the backends."""

from __future__ import annotations

from llama_cpp._native.backends import BackendSet, ensure_backends

from . import logbridge


def start() -> BackendSet:
    """Route native logs, load the packaged backends, initialise llama.cpp. Idempotent and thread-safe.

    Raises `NativeLibraryError` or `BackendLoadError` naming what is broken.
    """
    logbridge.install()
    return ensure_backends()
