from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from buildsys import toolkits
from buildsys.errors import ToolkitError
from buildsys.toolkits import container, debian_archive
from buildsys.toolkits.debian_archive import Archive
from buildsys.toolkits.host_compiler import ArchiveHost, MsvcHost, RepositoryHost, SystemHost, prepare_host

from .fakes import executable

ARCHIVE = ArchiveHost(
    summary="s",
    systems=("linux_x86_64",),
    version=10,
    programs={"cc": "usr/bin/gcc-10", "c++": "usr/bin/g++-10"},
    archive=Archive(suite="bullseye", components=("main",), packages=("g++-10",)),
)
SYSTEM = SystemHost(summary="s", systems=("linux_x86_64",), programs=(("gcc", "g++"), ("gcc-12", "g++-12")))


@pytest.fixture(autouse=True)
def isolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty cache, and nothing on PATH but what a test puts there and the shell."""
    monkeypatch.setenv("LLAMA_CPP_BUILD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/nowhere")


def install_gcc(folder: Path, suffix: str, version: int) -> None:
    for program in ("gcc", "g++"):
        executable(folder / f"{program}{suffix}", f"#!/bin/sh\necho {version}\n")


def prepare(newest_gcc: int | None, **hosts: toolkits.HostCompiler) -> dict[str, str]:
    return dict(prepare_host(hosts, system="linux_x86_64", newest_gcc=newest_gcc).defines)


def test_the_systems_compiler_is_taken_if_the_toolkit_allows_it(tmp_path: Path) -> None:
    install_gcc(tmp_path / "bin", "", 14)
    install_gcc(tmp_path / "bin", "-12", 12)
    assert prepare(None, system=SYSTEM)["CMAKE_CXX_COMPILER"] == f"{tmp_path}/bin/g++"
    older = prepare(13, system=SYSTEM)
    assert older["CMAKE_C_COMPILER"] == f"{tmp_path}/bin/gcc-12"
    assert older["CMAKE_CXX_COMPILER"] == older["CMAKE_CUDA_HOST_COMPILER"] == f"{tmp_path}/bin/g++-12"


def test_a_c_plus_plus_compiler_without_its_c_compiler_does_not_count(tmp_path: Path) -> None:
    executable(tmp_path / "bin" / "g++", "#!/bin/sh\necho 12\n")
    with pytest.raises(ToolkitError):
        prepare(13, system=SYSTEM)


def test_when_none_will_do_every_reason_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_gcc(tmp_path / "bin", "", 15)
    monkeypatch.setattr(debian_archive, "obstacle", lambda: "needs dpkg")
    toolset = RepositoryHost(summary="s", systems=("linux_x86_64",), version=14, packages=("gcc",), programs={})
    with pytest.raises(ToolkitError) as caught:
        prepare(13, debian=ARCHIVE, toolset=toolset, system=SYSTEM, msvc=MsvcHost(summary="s", systems=("windows_amd64",)))
    assert caught.value.message.splitlines()[1:] == [
        "  - debian needs dpkg",
        "  - toolset is GCC 14, the toolkit allows 13 or older",
        "  - system finds g++, newer than GCC 13",
    ]
    assert caught.value.hint.endswith("GCC 13 or older")


@pytest.fixture
def unpacked(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Stands in for Debian's packages: a compiler that prints how it was started, and libraries."""
    roots: list[Path] = []

    def unpack(archive: Archive, root: Path, **_: object) -> None:
        roots.append(root)
        for program in ("gcc-10", "g++-10"):
            executable(root / "usr" / "bin" / program, '#!/bin/sh\necho "$LD_LIBRARY_PATH"\necho "$@"\n')
        for library in ("usr/lib/x86_64-linux-gnu/libisl.so.23", "lib/x86_64-linux-gnu/libz.so.1", "lib/x86_64-linux-gnu/libc.so.6"):
            executable(root / library, "")
        (root / debian_archive.INVENTORY).write_text("\n".join(archive.packages), encoding="utf-8")

    monkeypatch.setattr(debian_archive, "obstacle", lambda: "")
    monkeypatch.setattr(debian_archive, "unpack", unpack)
    return roots


def test_an_unpacked_compiler_is_started_with_its_own_libraries_and_system_root(unpacked: list[Path]) -> None:
    for _ in range(2):
        compiler = Path(prepare(13, debian=ARCHIVE)["CMAKE_CXX_COMPILER"])
    assert len(unpacked) == 1
    assert compiler.name == "g++"  # nvcc looks at the name
    said = subprocess.run([compiler, "-c", "a file.cu"], check=True, capture_output=True, text=True).stdout.splitlines()
    root = compiler.parent / "root"
    assert said[1] == f"--sysroot={root} -B{root}/usr/bin/ -c a file.cu"
    libraries = {path.name for path in Path(said[0]).iterdir()}
    assert libraries == {"libisl.so.23", "libz.so.1"}  # its C library stays out of this system's programs
    assert (Path(said[0]) / "libz.so.1").is_file()


def test_the_packages_count_in_the_identity(unpacked: list[Path]) -> None:
    del unpacked
    assert prepare_host({"debian": ARCHIVE}, system="linux_x86_64", newest_gcc=13).identity.endswith("\ng++-10")


def test_a_containers_own_compiler_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed: list[str] = []
    monkeypatch.setattr(container, "obstacle", lambda: "")
    monkeypatch.setattr(container, "install", lambda packages, **_: installed.extend(packages))
    install_gcc(tmp_path / "opt", "", 13)
    programs = {"cc": f"{tmp_path}/opt/gcc", "c++": f"{tmp_path}/opt/g++"}
    toolset = RepositoryHost(summary="s", systems=("linux_x86_64",), version=13, packages=("gcc-toolset-13-gcc-c++",), programs=programs)
    assert prepare(13, toolset=toolset)["CMAKE_CUDA_HOST_COMPILER"] == f"{tmp_path}/opt/g++"
    assert installed == ["gcc-toolset-13-gcc-c++"]


def test_visual_cpp_is_one_program_for_both_languages(tmp_path: Path) -> None:
    host = {"msvc": MsvcHost(summary="s", systems=("windows_amd64",))}
    with pytest.raises(ToolkitError, match="developer prompt"):
        prepare_host(host, system="windows_amd64", newest_gcc=None)
    executable(tmp_path / "bin" / "cl", "#!/bin/sh\necho 'Microsoft (R) C/C++ Optimizing Compiler Version 19.44' >&2\nexit 2\n")
    ready = prepare_host(host, system="windows_amd64", newest_gcc=13)
    assert set(ready.defines.values()) == {f"{tmp_path}/bin/cl"}
    assert set(ready.defines) == {"CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "CMAKE_CUDA_HOST_COMPILER"}
    assert ready.identity == "Microsoft (R) C/C++ Optimizing Compiler Version 19.44"


def test_every_system_with_cuda_rows_has_a_host_compiler() -> None:
    hosts = toolkits.table().host.values()
    assert {system for host in hosts for system in host.systems} == {"linux_x86_64", "windows_amd64"}
