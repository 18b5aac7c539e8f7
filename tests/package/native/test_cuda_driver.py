from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import pytest

from llama_cpp._native.cuda_driver import Absence, DriverState, ask_driver, no_device, no_driver, open_driver

if TYPE_CHECKING:
    from pathlib import Path


class FakeDriver:
    """Answers as the driver's library would."""

    def __init__(self, *, version: int = 13010, init: int = 0, devices: int = 1, count_code: int = 0) -> None:
        self.version, self.init, self.devices, self.count_code = version, init, devices, count_code

    def cuDriverGetVersion(self, out: Any) -> int:  # noqa: N802
        ctypes.cast(out, ctypes.POINTER(ctypes.c_int))[0] = self.version
        return 0

    def cuInit(self, flags: int) -> int:  # noqa: N802
        assert flags == 0
        return self.init

    def cuDeviceGetCount(self, out: Any) -> int:  # noqa: N802
        assert self.init == 0
        ctypes.cast(out, ctypes.POINTER(ctypes.c_int))[0] = self.devices
        return self.count_code

    def cuGetErrorString(self, code: int, out: Any) -> int:  # noqa: N802
        ctypes.cast(out, ctypes.POINTER(ctypes.c_char_p))[0] = f"text of {code}".encode()
        return 0


def asked(**properties: Any) -> DriverState:
    return ask_driver(FakeDriver(**properties))  # type: ignore[arg-type]


def test_a_driver_tells_release_and_devices() -> None:
    assert asked(version=12040, devices=3) == DriverState(release=(12, 4), code=0, devices=3)


def test_a_driver_that_does_not_initialise_is_not_asked_for_devices() -> None:
    assert asked(init=100) == DriverState(release=(13, 1), code=100, devices=0, message="text of 100")


def test_an_error_of_the_count_is_kept() -> None:
    assert asked(count_code=3, devices=0).code == 3


@pytest.mark.parametrize(
    ("properties", "environment", "reason", "remedy"),
    [
        ({"version": 12080}, {}, "too old: it supports CUDA up to 12.8, and this build is of CUDA 13", "wheel for CUDA 12"),
        ({"version": 12080, "init": 100}, {}, "too old", "update the NVIDIA driver"),
        ({"init": 100}, {}, "(CUDA 13.1) is installed, but finds no GPU", "nvidia-smi"),
        ({"devices": 0}, {}, "finds no GPU", "nvidia-smi"),
        ({"init": 100}, {"CUDA_VISIBLE_DEVICES": ""}, "CUDA_VISIBLE_DEVICES='' chooses", "unset CUDA_VISIBLE_DEVICES"),
        ({"init": 100}, {"CUDA_VISIBLE_DEVICES": "7"}, "CUDA_VISIBLE_DEVICES='7' chooses", "unset CUDA_VISIBLE_DEVICES"),
        ({"init": 34}, {}, "stub for linking (text of 34)", "library path"),
        ({"init": 803}, {}, "different versions", "restart"),
        ({"init": 802}, {}, "fabric", "fabric manager"),
        ({"init": 999}, {}, "failed to initialise (text of 999)", "nvidia-smi"),
        ({"init": 4711}, {}, "failed with error 4711 (text of 4711)", "nvidia-smi"),
    ],
)
def test_why_there_is_no_device(properties: dict[str, int], environment: dict[str, str], reason: str, remedy: str) -> None:
    absence = no_device(asked(**properties), 13, environment)
    assert absence is not None
    assert reason in absence.reason
    assert remedy in absence.remedy


@pytest.mark.parametrize("version", [13000, 13010, 14000])
def test_a_driver_of_the_same_major_release_or_a_newer_one_serves(version: int) -> None:
    assert no_device(asked(version=version), 13, {"CUDA_VISIBLE_DEVICES": "0"}) is None


def test_a_driver_that_does_not_tell_its_release_is_not_called_old() -> None:
    assert no_device(asked(version=0), 13, {}) is None


def test_no_library_and_no_kernel_driver(tmp_path: Path) -> None:
    absence = no_driver("linux", tmp_path / "gone")
    assert str(absence) == (
        "no CUDA device: the NVIDIA driver is not installed (libcuda.so.1 was not found). Models run on the CPU. "
        "To use a GPU: install NVIDIA's driver."
    )


def test_a_kernel_driver_without_its_library_is_a_container(tmp_path: Path) -> None:
    version = tmp_path / "version"
    version.touch()
    absence = no_driver("linux", version)
    assert "kernel driver is running" in absence.reason
    assert "--gpus all" in absence.remedy


def test_windows_names_its_own_library(tmp_path: Path) -> None:
    assert "nvcuda.dll was not found" in no_driver("win32", tmp_path).reason


def test_opening(tmp_path: Path) -> None:
    seen: list[str] = []

    def missing(name: str) -> Any:
        seen.append(name)
        raise OSError(name)

    assert open_driver("linux", missing) is None
    assert open_driver("win32", missing) is None
    assert open_driver("darwin", missing) is None
    assert seen == ["libcuda.so.1", "nvcuda.dll"]
    assert open_driver("linux", lambda _name: tmp_path) is tmp_path  # type: ignore[arg-type, return-value]


def test_an_absence_is_one_sentence_after_the_other() -> None:
    assert str(Absence(reason="it rains", remedy="wait")) == "no CUDA device: it rains. Models run on the CPU. To use a GPU: wait."
