"""Getting the native side ready, once: logging first, then the backends, and a word on an accelerator without devices."""

from __future__ import annotations

import threading

from llama_cpp._native.accelerators import accelerators
from llama_cpp._native.backends import BackendSet, ensure_backends
from llama_cpp._native.bindings import llama

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
    numa: int | None = None


def _tell_about_accelerators(backends: BackendSet) -> None:
    """One warning in the log, once per process, for an accelerator that this installation has code for and no device."""
    with _Told.lock:
        if _Told.accelerators:
            return
        _Told.accelerators = True
    for each in accelerators(backends):
        if each.absence is not None:
            logbridge.bridge.say(logbridge.WARN, str(each.absence))


def use_numa(strategy: int) -> None:
    """Prepare the CPU backend for machines with several memory nodes: `ggml_numa_strategy`, once per process.

    A later call with another strategy changes nothing and says so in the log.
    """
    start()
    with _Told.lock:
        if _Told.numa is None and strategy:
            llama.llama_numa_init(strategy)
            _Told.numa = strategy
        elif strategy and strategy != _Told.numa:
            logbridge.bridge.say(logbridge.WARN, f"numa={strategy} has no effect: this process has chosen {_Told.numa} before")
