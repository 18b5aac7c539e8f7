"""The state of this installation as data: libraries, backends, devices, and why something does not work.

Made for `python -m llama_cpp` and for bug reports: a broken installation gives a report too.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from llama_cpp._native.accelerators import accelerators
from llama_cpp._native.backends import BackendSet, ensure_backends, load_backends
from llama_cpp._native.bindings import ggml_backend, llama
from llama_cpp._native.bindings.declarations.ggml_backend import ggml_backend_get_features_t
from llama_cpp._native.errors import LlamaError
from llama_cpp._native.libraries import library_folder
from llama_cpp._native.variants import CPU
from llama_cpp._version import __version__

from . import logbridge
from .threads import default_batch_threads, default_threads

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, kw_only=True)
class DeviceReport:
    """A device that models can be placed on. Memory in bytes; 0 where the backend does not tell."""

    name: str
    description: str
    type: str
    memory_free: int
    memory_total: int


@dataclass(frozen=True, kw_only=True)
class RegistryReport:
    """A backend that serves, its devices, and the features it was compiled with."""

    name: str
    devices: tuple[DeviceReport, ...]
    features: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class PluginReport:
    """A plugin file: `score` for this CPU (0: needs instructions it lacks; None: gives none), or why it does not open.

    `idle` says what this machine lacks for it, when nothing is broken.
    """

    file: str
    family: str
    variant: str
    score: int | None
    failure: str | None
    loaded: bool
    idle: str | None = None


@dataclass(frozen=True, kw_only=True)
class AcceleratorReport:
    """An accelerator that the installation has code for, and with how many devices, or why with none.

    `libraries` maps what it needs from NVIDIA's packages to the file that serves (None: left to the system's loader).
    """

    name: str
    release: str
    devices: int
    libraries: dict[str, str | None]
    absence: str | None


@dataclass(frozen=True, kw_only=True)
class SystemReport:
    """What this installation consists of. `problem` says what keeps it from running models, None when nothing does."""

    version: str
    llama_version: str | None
    python: str
    platform: str
    library_folder: str
    threads: int
    threads_batch: int
    registries: tuple[RegistryReport, ...]
    plugins: tuple[PluginReport, ...]
    accelerators: tuple[AcceleratorReport, ...]
    cpu_variant: str | None
    system_info: str | None
    problem: str | None

    @property
    def ok(self) -> bool:
        """Whether models can run."""
        return self.problem is None

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data for JSON."""
        return {**asdict(self), "ok": self.ok}


def system_report() -> SystemReport:
    """Load the libraries and backends and describe what came of it. Never raises for a broken installation."""
    backends: BackendSet | None = None
    problem: str | None = None
    try:
        logbridge.install()
        backends = load_backends()
        ensure_backends()
    except LlamaError as error:
        problem = str(error)
    variant = backends.cpu_variant if backends else None
    return SystemReport(
        version=__version__,
        llama_version=_text(llama.llama_version()) if backends else None,
        python=platform.python_version(),
        platform=f"{sys.platform} {platform.machine()}",
        library_folder=str(library_folder()),
        threads=default_threads(),
        threads_batch=default_batch_threads(),
        registries=tuple(_registries()) if backends else (),
        plugins=_plugins(backends) if backends else (),
        accelerators=tuple(_accelerators(backends)) if backends else (),
        cpu_variant=variant.variant or CPU if variant else None,
        system_info=_text(llama.llama_print_system_info()).strip() if backends and not problem else None,
        problem=problem,
    )


def _plugins(backends: BackendSet) -> tuple[PluginReport, ...]:
    loaded = {plugin.path for plugin in backends.loaded}
    return tuple(
        PluginReport(
            file=each.plugin.path.name,
            family=each.plugin.family,
            variant=each.plugin.variant,
            score=each.score,
            failure=each.failure,
            loaded=each.plugin.path in loaded,
            idle=each.idle,
        )
        for each in backends.plugins
    )


def _accelerators(backends: BackendSet) -> Iterator[AcceleratorReport]:
    for each in accelerators(backends):
        absence = None if each.absence is None else str(each.absence)
        yield AcceleratorReport(name=each.name, release=each.release, devices=each.devices, libraries=dict(each.libraries), absence=absence)


def _registries() -> Iterator[RegistryReport]:
    for index in range(ggml_backend.ggml_backend_reg_count()):
        registry = ggml_backend.ggml_backend_reg_get(index)
        if registry is None:
            continue
        devices = (
            ggml_backend.ggml_backend_reg_dev_get(registry, number) for number in range(ggml_backend.ggml_backend_reg_dev_count(registry))
        )
        yield RegistryReport(
            name=_text(ggml_backend.ggml_backend_reg_name(registry)),
            devices=tuple(_device(device) for device in devices if device is not None),
            features=_features(registry),
        )


def _device(device: ggml_backend.ggml_backend_dev_t) -> DeviceReport:
    free, total = ctypes.c_size_t(0), ctypes.c_size_t(0)
    ggml_backend.ggml_backend_dev_memory(device, ctypes.byref(free), ctypes.byref(total))
    kind = ggml_backend.ggml_backend_dev_type(device)
    return DeviceReport(
        name=_text(ggml_backend.ggml_backend_dev_name(device)),
        description=_text(ggml_backend.ggml_backend_dev_description(device)),
        type=_DEVICE_TYPES.get(kind, str(kind)),
        memory_free=free.value,
        memory_total=total.value,
    )


_DEVICE_TYPES = {
    ggml_backend.GGML_BACKEND_DEVICE_TYPE_CPU: "CPU",
    ggml_backend.GGML_BACKEND_DEVICE_TYPE_GPU: "GPU",
    ggml_backend.GGML_BACKEND_DEVICE_TYPE_IGPU: "integrated GPU",
    ggml_backend.GGML_BACKEND_DEVICE_TYPE_ACCEL: "accelerator",
    ggml_backend.GGML_BACKEND_DEVICE_TYPE_META: "device group",
}


def _features(registry: ggml_backend.ggml_backend_reg_t) -> dict[str, str]:
    address = ggml_backend.ggml_backend_reg_get_proc_address(registry, b"ggml_backend_get_features")
    if not address:
        return {}
    entries = ggml_backend_get_features_t(address)(registry)
    found: dict[str, str] = {}
    index = 0
    while entries and entries[index].name:  # a null name ends the list
        found[_text(ctypes.string_at(entries[index].name))] = _text(ctypes.string_at(entries[index].value or 0))
        index += 1
    return found


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")
