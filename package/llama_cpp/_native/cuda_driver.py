"""NVIDIA's driver: whether it is there, what it says of itself, and why it offers no device.

Asking it loads its library and initialises it, so this is done only where CUDA has no device to offer.
"""

from __future__ import annotations

import ctypes
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .cuda_libraries import DRIVER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

VISIBLE_DEVICES_VARIABLE = "CUDA_VISIBLE_DEVICES"
ON_CPU = "Models run on the CPU."

_SUCCESS, _NO_DEVICE, _STUB_LIBRARY = 0, 100, 34
_KERNEL_DRIVER = Path("/proc/driver/nvidia/version")
_INITIALISATION = {
    _STUB_LIBRARY: ("the library found as the NVIDIA driver is the toolkit's stub for linking", "take the stub out of the library path"),
    46: ("the GPU is in use by another process that has it exclusively, or unavailable", "see `nvidia-smi`"),
    101: ("the NVIDIA driver offers no valid device", "see `nvidia-smi`"),
    802: ("the system's NVLink fabric is not initialised", "start the NVIDIA fabric manager"),
    803: ("the NVIDIA driver's library and its kernel module are of different versions", "restart the machine after a driver update"),
    804: ("the GPU does not support running CUDA newer than its driver", "update the NVIDIA driver"),
    999: ("the NVIDIA driver failed to initialise", "see `nvidia-smi`; a restart loads the kernel module of a new driver"),
}


@dataclass(frozen=True, kw_only=True)
class DriverState:
    """What the driver answered: the newest CUDA release it supports, its error code (0: none), its number of devices."""

    release: tuple[int, int]
    code: int
    devices: int
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class Absence:
    """Why there is no CUDA device, and what would change that."""

    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"no CUDA device: {self.reason}. {ON_CPU} To use a GPU: {self.remedy}."


def open_driver(platform: str = sys.platform, open_library: Callable[[str], ctypes.CDLL] = ctypes.CDLL) -> ctypes.CDLL | None:
    """The driver's library, found as the system finds it; None without a driver."""
    name = DRIVER.get(platform)
    try:
        return open_library(name) if name else None
    except OSError:
        return None


def ask_driver(driver: ctypes.CDLL) -> DriverState:
    """Initialise the driver, and take down what it says."""
    version, count = ctypes.c_int(0), ctypes.c_int(0)
    driver.cuDriverGetVersion(ctypes.byref(version))
    code = int(driver.cuInit(0))
    if code == _SUCCESS:
        code = int(driver.cuDeviceGetCount(ctypes.byref(count)))
    return DriverState(
        release=(version.value // 1000, version.value % 1000 // 10), code=code, devices=count.value, message=_message(driver, code)
    )


def _message(driver: ctypes.CDLL, code: int) -> str:
    text = ctypes.c_char_p()
    known = code != _SUCCESS and driver.cuGetErrorString(code, ctypes.byref(text)) == _SUCCESS
    return (text.value or b"").decode("utf-8", "replace") if known else ""


def no_driver(platform: str = sys.platform, kernel_driver: Path = _KERNEL_DRIVER) -> Absence:
    """The absence of the driver's library, told from that of the whole driver."""
    name = DRIVER.get(platform, "the driver")
    if platform != "win32" and kernel_driver.exists():
        return Absence(
            reason=f"the NVIDIA kernel driver is running, but its library {name} is not visible to this process",
            remedy="give the container access to the GPU (`docker run --gpus all`), or install the driver's CUDA library",
        )
    return Absence(reason=f"the NVIDIA driver is not installed ({name} was not found)", remedy="install NVIDIA's driver")


def no_device(state: DriverState, built_for: int, environment: Mapping[str, str] = os.environ) -> Absence | None:
    """Why a driver in `state` offers no device to code of CUDA release `built_for` (major); None when it offers some."""
    supported = "{}.{}".format(*state.release)
    if 0 < state.release[0] < built_for:
        return Absence(
            reason=f"the NVIDIA driver is too old: it supports CUDA up to {supported}, and this build is of CUDA {built_for}",
            remedy=f"update the NVIDIA driver, or install a wheel for CUDA {state.release[0]}",
        )
    if state.code == _SUCCESS and state.devices > 0:
        return None
    if state.code in (_SUCCESS, _NO_DEVICE):
        visible = environment.get(VISIBLE_DEVICES_VARIABLE)
        if visible is not None:
            hidden = f"the NVIDIA driver finds no GPU, and {VISIBLE_DEVICES_VARIABLE}={visible!r} chooses which ones it may find"
            return Absence(reason=hidden, remedy=f"unset {VISIBLE_DEVICES_VARIABLE}")
        found = f"the NVIDIA driver (CUDA {supported}) is installed, but finds no GPU"
        return Absence(reason=found, remedy="see whether `nvidia-smi` lists one")
    reason, remedy = _INITIALISATION.get(state.code, (f"the NVIDIA driver failed with error {state.code}", "see `nvidia-smi`"))
    return Absence(reason=f"{reason} ({state.message})" if state.message else reason, remedy=remedy)
