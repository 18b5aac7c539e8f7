from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from buildsys import toolkits
from buildsys.toolkits import container
from buildsys.toolkits.request import Request


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    commands: list[list[str]] = []
    monkeypatch.setattr(container, "run_logged", lambda command, **_: commands.append([str(word) for word in command]))
    return commands


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A system with dnf that is no container."""
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(container, "_MARKS", ())
    for name in ("AUDITWHEEL_PLAT", "container"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize("release", ["12.6", "13.1"])
def test_nvidias_repository_is_added_and_its_packages_of_the_release_are_installed(
    release: str, ran: list[list[str]], tmp_path: Path
) -> None:
    provider = toolkits.table().provider["nvidia-repository"]
    root = provider.obtain(Request(release=release, system="linux_x86_64"), tmp_path / "place")
    assert root == Path(f"/usr/local/cuda-{release}")
    assert ran[0] == ["dnf", "-y", "install", "dnf-plugins-core"]
    assert ran[1][:3] == ["dnf", "config-manager", "--add-repo"]
    assert ran[1][3].startswith("https://developer.download.nvidia.com/compute/cuda/repos/rhel8/x86_64/")
    suffix = release.replace(".", "-")
    assert ran[2][-3:] == [f"cuda-minimal-build-{suffix}", f"cuda-driver-devel-{suffix}", f"libcublas-devel-{suffix}"]


def test_packages_of_the_system_itself_need_no_repository(ran: list[list[str]], tmp_path: Path) -> None:
    container.install(["gcc-toolset-13-gcc-c++"], log=tmp_path / "log", label="x")
    assert [command[-1] for command in ran] == ["gcc-toolset-13-gcc-c++"]


def test_a_system_that_is_no_container_is_left_alone(system: pytest.MonkeyPatch) -> None:
    assert container.obstacle() == "installs into the system, so only inside a container"
    system.setenv("AUDITWHEEL_PLAT", "manylinux_2_28_x86_64")
    assert container.obstacle() == ""
    system.setattr(shutil, "which", lambda _: None)
    assert container.obstacle() == "needs dnf"


def test_the_mark_of_a_container_engine_counts_too(system: pytest.MonkeyPatch, tmp_path: Path) -> None:
    system.setattr(container, "_MARKS", (tmp_path / ".dockerenv",))
    assert container.obstacle()
    (tmp_path / ".dockerenv").touch()
    assert container.obstacle() == ""
