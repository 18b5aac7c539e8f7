from __future__ import annotations

from pathlib import Path

import pytest

from buildsys.toolkits.installed import InstalledProvider
from buildsys.toolkits.request import Request

from .fakes import make_toolkit


@pytest.fixture
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InstalledProvider:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for variable in ("CUDA_PATH", "CUDA_HOME", "CUDA_PATH_V12_4", "CUDA_PATH_V13_1"):
        monkeypatch.delenv(variable, raising=False)
    return InstalledProvider(
        summary="s",
        releases=">=12",
        systems=("linux_x86_64", "windows_amd64"),
        variables=("CUDA_PATH_V{major}_{minor}", "CUDA_PATH", "CUDA_HOME"),
        folders=(f"{tmp_path}/usr/local/cuda-{{release}}", f"{tmp_path}/usr/local/cuda"),
    )


def found(provider: InstalledProvider, release: str, system: str = "linux_x86_64") -> Path | str:
    request = Request(release=release, system=system)
    return provider.obstacle(request) or provider.obtain(request, Path("unused"))


def test_the_variable_of_a_release_comes_before_the_general_one(
    provider: InstalledProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_PATH_V13_1", str(make_toolkit(tmp_path / "v13.1", "13.1")))
    monkeypatch.setenv("CUDA_PATH", str(make_toolkit(tmp_path / "other", "13.1")))
    assert found(provider, "13.1", "windows_amd64") == tmp_path / "v13.1"


def test_a_toolkit_of_another_release_is_passed_over(provider: InstalledProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_HOME", str(make_toolkit(tmp_path / "new", "13.1")))
    wanted = make_toolkit(tmp_path / "usr" / "local" / "cuda-12.4", "12.4")
    assert found(provider, "12.4") == wanted


def test_nvcc_on_path_is_followed_to_its_toolkit(provider: InstalledProvider, tmp_path: Path) -> None:
    root = make_toolkit(tmp_path / "opt" / "cuda", "12.4")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").symlink_to(root / "bin" / "nvcc")
    assert found(provider, "12.4") == root


def test_a_bare_nvcc_is_no_toolkit(provider: InstalledProvider, tmp_path: Path) -> None:
    """Debian's package puts it into /usr/bin, with its headers and libraries all over the system."""
    root = make_toolkit(tmp_path, "12.4")
    (root / "include" / "cuda_runtime_api.h").unlink()
    assert "finds none by CUDA_PATH_V" in str(found(provider, "12.4"))


def test_what_is_there_instead_is_told(provider: InstalledProvider, tmp_path: Path) -> None:
    make_toolkit(tmp_path / "usr" / "local" / "cuda", "13.0")
    assert found(provider, "13.1") == f"finds CUDA 13.0 in {tmp_path}/usr/local/cuda"


def test_a_system_that_is_not_served_is_told_first(provider: InstalledProvider) -> None:
    assert found(provider, "13.1", "macos_arm64") == "serves linux_x86_64 and windows_amd64 only"
    assert found(provider, "11.8") == "has CUDA >=12 only"
