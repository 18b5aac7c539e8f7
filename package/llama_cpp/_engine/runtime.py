"""Getting the native side ready, once: logging first, then the backends, and a word on an accelerator without devices."""

from __future__ import annotations

import threading

from llama_cpp._native.accelerators import accelerators
from llama_cpp._native.backends import BackendSet, ensure_backends

from . import logbridge


def start() -> BackendSet:
    """Route native logs, load the packaged backends, initialise llama.cpp. Idempotent and thread-safe.

    Raises `NativeLibraryError` or `BackendLoadError` naming what is broken.
    """
    logbridge.install()
    backends = ensure_backends()
    if not _Told.accelerators:
        _tell_about_accelerators(backends)
    return backends


class _Told:
    lock = threading.Lock()
    accelerators = False


def _tell_about_accelerators(backends: BackendSet) -> None:
    """One warning in the log, once per process, for an accelerator that this installation has code for and no device."""
    with _Told.lock:
        if _Told.accelerators:
            return
        _Told.accelerators = True
    for each in accelerators(backends):
        if each.absence is not None:
            logbridge.bridge.say(logbridge.WARN, str(each.absence))
