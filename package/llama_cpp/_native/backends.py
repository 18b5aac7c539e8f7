"""Loading the packaged backends: once per process, from the packaged folder, by absolute path, the best for this CPU.

llama.cpp's own search would look into the interpreter's folder and the current directory, and stays silent about
plugins that do not open; so the choice is made here and only the loading is left to it.
"""

from __future__ import annotations

import ctypes
import logging
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from llama_cpp._native.bindings import ggml_backend, llama

from .diagnosis import explain, missing_libraries, truncation
from .errors import BackendLoadError, NativeLibraryError
from .libraries import library, library_folder
from .log_route import unheard
from .variants import CPU, CUDA, Plugin, ScoredPlugin, by_preference, families, plugins_in, probe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

EXTRA_BACKEND_VARIABLE = "GGML_BACKEND_PATH"

_log = logging.getLogger("llama-cpp-python")


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why a plugin was not loaded. `missing` is the library that was not found; `idle` says that nothing is broken."""

    reason: str
    missing: str | None = None
    idle: bool = False


@dataclass(frozen=True, kw_only=True)
class BackendSet:
    """What became of each plugin file; `loaded` are those that serve now."""

    folder: Path
    plugins: tuple[ScoredPlugin, ...]
    loaded: tuple[Plugin, ...]

    @property
    def failures(self) -> tuple[ScoredPlugin, ...]:
        """The plugins that are broken, as opposed to not meant for this CPU or without their accelerator here."""
        return tuple(each for each in self.plugins if each.failure is not None)

    @property
    def cpu_variant(self) -> Plugin | None:
        """The CPU plugin that serves; None when none does, or when CPU code is part of the core libraries."""
        return next((plugin for plugin in self.loaded if plugin.family == CPU), None)


def select_and_load(
    folder: Path,
    plugins: Sequence[Plugin],
    load: Callable[[Path], Refusal | None],
    *,
    probe_plugin: Callable[[Plugin], ScoredPlugin],
    present: frozenset[str] = frozenset(),
) -> BackendSet:
    """Load the best plugin of each family with `load`, which returns what went wrong or None.

    When the best one fails the next best gets its turn. Families in `present` are there already.
    """
    seen: dict[Path, ScoredPlugin] = {}
    loaded: list[Plugin] = []
    for family, members in families(plugins):
        if family in present:  # registered before any plugin: what has a file is a library that ggml links
            linked = [member for member in members if not member.variant]
            seen.update((member.path, ScoredPlugin(plugin=member)) for member in linked)
            loaded.extend(linked)
            continue
        scored = [probe_plugin(member) for member in members]
        seen.update((each.plugin.path, each) for each in scored)
        for choice in by_preference(scored):
            refusal = load(choice.plugin.path)
            if refusal is None:
                loaded.append(choice.plugin)
                break
            seen[choice.plugin.path] = _refused(choice.plugin, refusal, choice.score)
    return BackendSet(folder=folder, plugins=tuple(seen.values()), loaded=tuple(loaded))


def _refused(plugin: Plugin, refusal: Refusal, score: int | None = None) -> ScoredPlugin:
    failure, idle = (None, refusal.reason) if refusal.idle else (refusal.reason, None)
    return ScoredPlugin(plugin=plugin, score=score, failure=failure, missing=refusal.missing, idle=idle)


def ensure_backends() -> BackendSet:
    """Load the backends and initialise llama.cpp, whatever thread asks first; later calls cost nothing.

    Raises `NativeLibraryError` when the core libraries do not open, `BackendLoadError` when no CPU backend serves.
    """
    backends = load_backends()
    if not _cpu_serves:
        raise BackendLoadError(_no_cpu_message(backends))
    return backends


def load_backends() -> BackendSet:
    """The same without the demand for a CPU backend: for reports on broken installations."""
    global _loaded, _cpu_serves  # noqa: PLW0603 - the native registry is process-wide too
    if _loaded is None:
        with _lock:
            if _loaded is None:
                library("llama")  # raises what is broken
                with unheard():
                    found = _load_all(library_folder(), os.environ)
                _cpu_serves = bool(ggml_backend.ggml_backend_dev_by_type(ggml_backend.GGML_BACKEND_DEVICE_TYPE_CPU))
                if _cpu_serves:  # with an empty registry llama.cpp would start its own search
                    llama.llama_backend_init()
                _loaded = found
    return _loaded


def cpu_variant_path() -> Path:
    """The file of the CPU plugin that serves; symbols that only it has are reached by opening it again."""
    plugin = ensure_backends().cpu_variant
    if plugin is None:
        raise NativeLibraryError("this build has no CPU plugin: its CPU backend is part of the core libraries")
    return plugin.path


_loaded: BackendSet | None = None
_cpu_serves = False
_lock = threading.Lock()


def _load_all(folder: Path, environment: Mapping[str, str]) -> BackendSet:
    present = frozenset(
        (ggml_backend.ggml_backend_reg_name(registry) or b"").decode().lower()
        for index in range(ggml_backend.ggml_backend_reg_count())
        if (registry := ggml_backend.ggml_backend_reg_get(index)) is not None
    )
    found = select_and_load(folder, plugins_in(folder), _load_plugin, probe_plugin=probe, present=present)
    for each in found.failures:
        _log.warning("backend plugin %s was skipped: %s", each.plugin.path.name, each.failure)
    extra = environment.get(EXTRA_BACKEND_VARIABLE)
    if not extra:
        return found
    plugin = Plugin(path=Path(extra).absolute(), family="extra", variant="")
    refusal = _load_plugin(plugin.path)
    if refusal is not None:
        _log.warning("%s names a backend that does not load: %s: %s", EXTRA_BACKEND_VARIABLE, extra, refusal.reason)
    scored = ScoredPlugin(plugin=plugin) if refusal is None else _refused(plugin, refusal)
    loaded = (*found.loaded, plugin) if refusal is None else found.loaded
    return BackendSet(folder=folder, plugins=(*found.plugins, scored), loaded=loaded)


def _load_plugin(path: Path) -> Refusal | None:
    """Register one plugin; what went wrong, or None."""
    if not path.is_file():
        return Refusal(reason="there is no such file")
    damage = truncation(path)
    if damage is not None:
        return Refusal(reason=damage)
    if CUDA in path.name:
        without = _prepare_cuda(path)
        if without is not None:
            return without
    try:
        ctypes.CDLL(str(path))  # for the reason, should it not open; on Windows also for the search in its own folder
    except OSError as error:
        return _not_opened(path, error)
    if ggml_backend.ggml_backend_load(os.fsencode(path)):
        return None
    return Refusal(reason="it opens, but does not register: it is no ggml backend, of another ggml version, or not for this machine")


def _not_opened(path: Path, error: OSError) -> Refusal:
    missing = next(iter(missing_libraries(path, error)), None)
    reason = explain(path, error)
    if missing is not None and CUDA in path.name:
        from .cuda_libraries import remedy  # noqa: PLC0415 - of no use to other plugins

        installing = remedy([missing])
        reason = f"{reason}; {installing}" if installing else reason
    return Refusal(reason=reason, missing=missing)


def _prepare_cuda(path: Path) -> Refusal | None:
    """Open the libraries of CUDA that a plugin needs, unless there is no driver: then it has nothing to do."""
    from . import cuda_driver, cuda_libraries  # noqa: PLC0415 - of no use to other plugins

    driver = cuda_libraries.needed_driver(path)
    if driver is not None and cuda_driver.open_driver() is None:
        return Refusal(reason=cuda_driver.no_driver().reason, missing=driver, idle=True)
    cuda_libraries.CudaLibraries().preload(path)
    return None


def _no_cpu_message(backends: BackendSet) -> str:
    tried = [each for each in backends.plugins if each.plugin.family == CPU]
    if not tried:
        return f"no CPU backend: {backends.folder} has no libggml-cpu plugin. Reinstall the wheel of llama_cpp_python."
    reasons = [f"\n  {each.plugin.path.name}: {each.failure or 'needs instructions that this CPU lacks'}" for each in tried]
    return (
        f"no CPU backend could be loaded from {backends.folder}:{''.join(reasons)}\n"
        "Reinstall the wheel of llama_cpp_python; `python -m llama_cpp` shows the state of this installation."
    )
