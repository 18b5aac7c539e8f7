"""What an accelerator's plugin came to: devices, or the reason for none, whichever step it stopped at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llama_cpp._native import accelerators as module
from llama_cpp._native import cuda_driver
from llama_cpp._native.accelerators import accelerators, gpu_devices
from llama_cpp._native.backends import BackendSet
from llama_cpp._native.bindings import ggml_backend
from llama_cpp._native.cuda_driver import DriverState
from llama_cpp._native.variants import Plugin, ScoredPlugin
from tests.buildsys.audit.elf_files import shared_object


class Machine:
    """A machine with an installed CUDA plugin; change it, then ask."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.devices: int | None = None
        self.driver: DriverState | None = DriverState(release=(13, 1), code=100, devices=0)
        self.files: dict[str, Path] = {}
        self.asked = 0

    def backends(self, **became: Any) -> BackendSet:
        path = self.folder / "libggml-cuda.so"
        path.write_bytes(shared_object(needed=["libcudart.so.13", "libcublas.so.13", "libcuda.so.1"]))
        plugin = ScoredPlugin(plugin=Plugin(path=path, family="cuda", variant=""), **became)
        return BackendSet(folder=self.folder, plugins=(plugin,), loaded=())

    def absence(self, **became: Any) -> Any:
        (found,) = accelerators(self.backends(**became))
        return found.absence


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path)

    def ask(_driver: object) -> DriverState:
        made.asked += 1
        assert made.driver is not None
        return made.driver

    monkeypatch.setattr(module, "_known", {})
    monkeypatch.setattr(module, "__version__", "0.4.0+cu131")
    monkeypatch.setattr(module.CudaLibraries, "find", lambda _self, name: made.files.get(name))
    monkeypatch.setattr(cuda_driver, "open_driver", lambda: None if made.driver is None else object())
    monkeypatch.setattr(cuda_driver, "ask_driver", ask)
    monkeypatch.setattr(cuda_driver, "no_driver", lambda: cuda_driver.Absence(reason="no driver", remedy="install one"))
    monkeypatch.setattr(ggml_backend, "ggml_backend_reg_by_name", lambda name: 7 if name == b"CUDA" and made.devices is not None else None)
    monkeypatch.setattr(ggml_backend, "ggml_backend_reg_dev_count", lambda _registry: made.devices)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return made


def test_an_installation_without_accelerators_has_none(tmp_path: Path) -> None:
    cpu = ScoredPlugin(plugin=Plugin(path=tmp_path / "libggml-cpu-x64.so", family="cpu", variant="x64"))
    assert accelerators(BackendSet(folder=tmp_path, plugins=(cpu,), loaded=(cpu.plugin,))) == ()


def test_devices_need_no_explanation_and_the_driver_is_not_asked(machine: Machine) -> None:
    machine.devices = 2
    machine.files = {"libcudart.so.13": Path("/site/libcudart.so.13")}
    (found,) = accelerators(machine.backends())
    assert (found.name, found.release, found.devices, found.absence) == ("CUDA", "13.1", 2, None)
    assert found.libraries == {"libcudart.so.13": str(Path("/site/libcudart.so.13")), "libcublas.so.13": None}
    assert machine.asked == 0


def test_what_was_found_out_is_kept(machine: Machine) -> None:
    machine.devices = 0
    backends = machine.backends()
    assert accelerators(backends) == accelerators(backends)
    assert machine.asked == 1


@pytest.mark.parametrize("version", ["0.4.0", "0.4.0+cu124"])
def test_the_release_of_another_plugin_than_the_wheels_own_has_no_minor_number(
    machine: Machine, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "__version__", version)
    assert accelerators(machine.backends())[0].release == "13"


def test_no_driver(machine: Machine) -> None:
    machine.driver = None
    absence = machine.absence(idle="no driver", missing="libcuda.so.1")
    assert (absence.reason, absence.remedy) == ("no driver", "install one")


def test_a_driver_without_devices(machine: Machine) -> None:
    machine.devices = 0
    assert "finds no GPU" in machine.absence().reason


def test_a_driver_that_is_too_old(machine: Machine) -> None:
    machine.devices = 0
    machine.driver = DriverState(release=(12, 8), code=0, devices=1)
    assert "too old" in machine.absence().reason


def test_a_device_that_only_the_driver_sees(machine: Machine) -> None:
    machine.devices = 0
    machine.driver = DriverState(release=(13, 1), code=0, devices=1)
    assert "although the NVIDIA driver lists one" in machine.absence().reason


def test_a_missing_library_is_named_with_all_that_no_package_brings(machine: Machine) -> None:
    absence = machine.absence(failure="libcublas.so.13 not found, needed by …", missing="libcublas.so.13")
    assert absence.reason == "libcublas.so.13 was not found"
    assert absence.remedy == 'python -m pip install "nvidia-cublas==13.*" "nvidia-cuda-runtime==13.*"'
    assert machine.asked == 0


def test_a_missing_library_of_the_system_is_no_matter_of_packages(machine: Machine) -> None:
    absence = machine.absence(failure="libstdc++.so.6 not found, needed by libcudart.so.13", missing="libstdc++.so.6")
    assert absence.reason == "the CUDA backend does not load: libstdc++.so.6 not found, needed by libcudart.so.13"


def test_a_plugin_that_is_gone_is_a_reason_too(machine: Machine) -> None:
    backends = machine.backends(failure="there is no such file")
    (machine.folder / "libggml-cuda.so").unlink()
    (found,) = accelerators(backends)
    assert (found.release, found.libraries) == ("", {})
    assert found.absence is not None
    assert "there is no such file" in found.absence.reason


def test_gpus_are_counted_whatever_backend_they_belong_to(monkeypatch: pytest.MonkeyPatch) -> None:
    types = [
        ggml_backend.GGML_BACKEND_DEVICE_TYPE_CPU,
        ggml_backend.GGML_BACKEND_DEVICE_TYPE_GPU,
        ggml_backend.GGML_BACKEND_DEVICE_TYPE_IGPU,
        ggml_backend.GGML_BACKEND_DEVICE_TYPE_ACCEL,
    ]
    monkeypatch.setattr(ggml_backend, "ggml_backend_dev_count", lambda: len(types))
    monkeypatch.setattr(ggml_backend, "ggml_backend_dev_get", lambda index: index + 1)
    monkeypatch.setattr(ggml_backend, "ggml_backend_dev_type", lambda device: types[device - 1])
    assert gpu_devices() == 2
