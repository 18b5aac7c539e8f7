"""Which wheels get stand-ins for a driver, and of which releases."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildsys.conformance import drivers
from buildsys.toolkits import driver_stub

CUDA_WHEEL = Path("llama_cpp_python-0.4.0+cu131-py3-none-manylinux_2_28_x86_64.whl")


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The releases that a stub was compiled for."""
    releases: list[str] = []

    def build(folder: Path, *, release: str) -> Path:
        releases.append(release)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / driver_stub.SONAME).touch()
        return folder / driver_stub.SONAME

    monkeypatch.setattr(driver_stub, "build_driver_stub", build)
    monkeypatch.setattr(drivers, "cache_dir", lambda: tmp_path)
    return releases


def test_a_cuda_wheel_gets_a_driver_of_its_release_and_one_before(built: list[str], tmp_path: Path) -> None:
    found = drivers.variables(CUDA_WHEEL, "linux")
    assert found == {
        "LLAMA_TEST_CUDA_DRIVER_STUB": str(tmp_path / "driver-stubs" / "13.1"),
        "LLAMA_TEST_CUDA_OLD_DRIVER_STUB": str(tmp_path / "driver-stubs" / "12.0"),
    }
    assert all(Path(folder, "libcuda.so.1").is_file() for folder in found.values())
    assert built == ["13.1", "12.0"]


def test_a_stub_is_compiled_once(built: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(driver_stub, "SOURCE", tmp_path / "driver_stub.c")
    driver_stub.SOURCE.touch()
    drivers.variables(CUDA_WHEEL, "linux")
    drivers.variables(CUDA_WHEEL, "linux")
    assert built == ["13.1", "12.0"]


@pytest.mark.parametrize(
    ("name", "system"),
    [
        ("llama_cpp_python-0.4.0-py3-none-manylinux_2_28_x86_64.whl", "linux"),
        ("llama_cpp_python-0.4.0+cu131-py3-none-win_amd64.whl", "win32"),
    ],
)
def test_other_wheels_get_none(name: str, system: str, built: list[str]) -> None:
    assert drivers.variables(Path(name), system) == {}
    assert built == []
