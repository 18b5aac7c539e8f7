"""What the accelerator plugins of an installation came to: devices, or in words why there are none and what would help.

CUDA is the one that needs explaining: its driver and its libraries come from elsewhere.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from llama_cpp._version import __version__

from . import cuda_driver
from .bindings import ggml_backend
from .cuda_driver import Absence
from .cuda_libraries import CudaLibraries, cuda_needs, identify, remedy
from .variants import CUDA

if TYPE_CHECKING:
    from .backends import BackendSet
    from .variants import ScoredPlugin

_REGISTRY = b"CUDA"
_LABEL = re.compile(r"\+cu(?P<major>\d+)(?P<minor>\d)$")
_GPU_TYPES = (ggml_backend.GGML_BACKEND_DEVICE_TYPE_GPU, ggml_backend.GGML_BACKEND_DEVICE_TYPE_IGPU)


@dataclass(frozen=True, kw_only=True)
class Accelerator:
    """An accelerator that this installation has code for. `libraries` maps each that it needs to the file that serves.

    `absence` says why it has no device, and is None when it has one. A library without a file is left to the loader's search.
    """

    name: str
    release: str
    devices: int
    libraries: dict[str, str | None]
    absence: Absence | None


def gpu_devices() -> int:
    """How many GPUs models can be placed on, whatever backend they belong to. The backends must be loaded."""
    devices = (ggml_backend.ggml_backend_dev_get(index) for index in range(ggml_backend.ggml_backend_dev_count()))
    return sum(ggml_backend.ggml_backend_dev_type(device) in _GPU_TYPES for device in devices if device)


def accelerators(backends: BackendSet) -> tuple[Accelerator, ...]:
    """The accelerators among the plugins of `backends`; what is found out is kept, since a driver does not come and go."""
    plugins = [each for each in backends.plugins if CUDA in each.plugin.path.name]
    if not plugins:
        return ()
    with _lock:
        for each in plugins:
            if each.plugin.path not in _known:
                _known[each.plugin.path] = _cuda(each)
        return tuple(_known[each.plugin.path] for each in plugins)


_known: dict[Path, Accelerator] = {}
_lock = threading.Lock()


def _cuda(plugin: ScoredPlugin) -> Accelerator:
    path = plugin.plugin.path
    needs = cuda_needs(path) if path.is_file() else ()
    found = CudaLibraries()
    files = {name: found.find(name) for name in needs}
    major = next((known[1] for name in needs if (known := identify(name))), 0)
    devices = _devices()
    return Accelerator(
        name="CUDA",
        release=_release(major),
        devices=devices,
        libraries={name: None if file is None else str(file) for name, file in files.items()},
        absence=None if devices else _why_no_device(plugin, [name for name, file in files.items() if file is None], major),
    )


def _devices() -> int:
    registry = ggml_backend.ggml_backend_reg_by_name(_REGISTRY)
    return int(ggml_backend.ggml_backend_reg_dev_count(registry)) if registry else 0


def _release(major: int) -> str:
    """The CUDA release of the plugin: with its minor number where the distribution's version states it."""
    label = _LABEL.search(__version__)
    if label and int(label["major"]) == major:
        return f"{major}.{label['minor']}"
    return str(major or "")


def _why_no_device(plugin: ScoredPlugin, in_no_package: list[str], major: int) -> Absence:
    if plugin.missing and identify(plugin.missing):
        lacking = [plugin.missing, *in_no_package]
        return Absence(reason=f"{plugin.missing} was not found", remedy=remedy(lacking) or "")
    if plugin.failure is not None:
        return Absence(reason=f"the CUDA backend does not load: {plugin.failure}", remedy="reinstall the wheel of llama_cpp_python")
    driver = cuda_driver.open_driver()
    if driver is None:
        return cuda_driver.no_driver()
    unseen = Absence(reason="the CUDA runtime offers none, although the NVIDIA driver lists one", remedy="see the native log lines")
    return cuda_driver.no_device(cuda_driver.ask_driver(driver), major) or unseen
