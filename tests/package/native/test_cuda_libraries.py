"""Finding and opening CUDA's libraries in trees like those that NVIDIA's packages install, for Linux and Windows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llama_cpp._native import cuda_libraries
from llama_cpp._native.cuda_libraries import CudaLibraries, cuda_needs, identify, needed_driver, remedy, site_folders
from tests.buildsys.audit.elf_files import shared_object
from tests.buildsys.audit.pe_files import dynamic_library

LINUX_13 = "nvidia/cu13/lib"
PLUGIN_NEEDS = ("libggml-base.so", "libcudart.so.{0}", "libcublas.so.{0}", "libcuda.so.1")


def put(site: Path, folder: str, name: str, needed: tuple[str, ...] = ()) -> Path:
    path = site / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        dynamic_library(name=name, imports=needed or ("KERNEL32.dll",)) if name.endswith(".dll") else shared_object(needed=needed)
    )
    return path


def linux_site(site: Path, major: int) -> dict[str, Path]:
    """The packages of one release, as they are installed on Linux; returns stem → file."""
    own = major < 13
    folders = {"cudart": "cuda_runtime", "cublas": "cublas", "cublasLt": "cublas", "nvrtc": "cuda_nvrtc"}
    needed = {"cublas": (f"libcublasLt.so.{major}", "libc.so.6")}
    return {
        stem: put(site, f"nvidia/{folder}/lib" if own else LINUX_13, f"lib{stem}.so.{major}", needed.get(stem, ("libc.so.6",)))
        for stem, folder in folders.items()
    }


def windows_site(site: Path, major: int) -> dict[str, Path]:
    names = {
        "cudart": ("cuda_runtime", f"cudart64_{major}.dll", ()),
        "cublas": ("cublas", f"cublas64_{major}.dll", (f"cublasLt64_{major}.dll",)),
        "cublasLt": ("cublas", f"cublasLt64_{major}.dll", ()),
        "nvrtc": ("cuda_nvrtc", f"nvrtc64_{major}0_0.dll", ()),
    }
    put(site, "nvidia/cuda_nvrtc/bin" if major < 13 else "nvidia/cu13/bin/x86_64", f"nvrtc64_{major}0_0.alt.dll")
    return {
        stem: put(site, f"nvidia/{folder}/bin" if major < 13 else "nvidia/cu13/bin/x86_64", name, needed)
        for stem, (folder, name, needed) in names.items()
    }


def linux_plugin(folder: Path, major: int) -> Path:
    path = folder / "libggml-cuda.so"
    path.write_bytes(shared_object(needed=[need.format(major) for need in PLUGIN_NEEDS]))
    return path


def windows_plugin(folder: Path, major: int) -> Path:
    path = folder / "ggml-cuda.dll"
    path.write_bytes(dynamic_library(imports=("ggml-base.dll", f"cudart64_{major}.dll", f"cublas64_{major}.dll", "nvcuda.dll")))
    return path


def preloaded(plugin: Path, sites: list[Path], platform: str = "linux", **options: Any) -> tuple[list[str], list[Path]]:
    """What was handed to the loader, in order, and what `preload` returns."""
    opened: list[str] = []
    settings: dict[str, Any] = {"environment": {}, "loaded": lambda _name: False, "open_library": opened.append, **options}
    return opened, CudaLibraries(sites=sites, platform=platform, **settings).preload(plugin)


@pytest.mark.parametrize("major", [12, 13])
def test_linux_packages_are_opened_by_path_dependencies_first(tmp_path: Path, major: int) -> None:
    files = linux_site(tmp_path / "site", major)
    opened, returned = preloaded(linux_plugin(tmp_path, major), [tmp_path / "site"])
    assert opened == [str(files[stem]) for stem in ("cudart", "nvrtc", "cublasLt", "cublas")]
    assert returned == [files[stem] for stem in ("cudart", "nvrtc", "cublasLt", "cublas")]


@pytest.mark.parametrize("major", [12, 13])
def test_windows_packages_likewise(tmp_path: Path, major: int) -> None:
    files = windows_site(tmp_path / "site", major)
    opened, _ = preloaded(windows_plugin(tmp_path, major), [tmp_path / "site"], "win32")
    assert opened.index(str(files["cublasLt"])) < opened.index(str(files["cublas"]))
    assert set(opened) == {str(file) for file in files.values()}


def test_packages_of_another_release_are_left_alone(tmp_path: Path) -> None:
    linux_site(tmp_path / "site", 12)
    assert preloaded(linux_plugin(tmp_path, 13), [tmp_path / "site"]) == ([], [])


def test_without_packages_nothing_is_opened(tmp_path: Path) -> None:
    assert preloaded(linux_plugin(tmp_path, 13), []) == ([], [])


def test_a_plugin_without_cuda_costs_nothing(tmp_path: Path) -> None:
    linux_site(tmp_path / "site", 13)
    plugin = tmp_path / "libggml-rpc.so"
    plugin.write_bytes(shared_object(needed=["libggml-base.so", "libc.so.6"]))
    assert preloaded(plugin, [tmp_path / "site"]) == ([], [])


def test_the_first_site_that_has_a_library_serves_it(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    linux_site(second, 13)
    mine = put(first, LINUX_13, "libcudart.so.13")
    opened, _ = preloaded(linux_plugin(tmp_path, 13), [first, second])
    assert opened[0] == str(mine)
    assert opened[-1] == str(second / LINUX_13 / "libcublas.so.13")


def test_what_is_loaded_already_serves(tmp_path: Path) -> None:
    files = linux_site(tmp_path / "site", 13)
    opened, _ = preloaded(linux_plugin(tmp_path, 13), [tmp_path / "site"], loaded=lambda name: name.startswith("libcublas"))
    assert opened == [str(files["cudart"])]


def test_a_library_that_does_not_open_is_left_to_the_loader(tmp_path: Path) -> None:
    linux_site(tmp_path / "site", 13)

    def refuse(path: str) -> None:
        if "cublasLt" in path:
            raise OSError("wrong ELF class")

    _, returned = preloaded(linux_plugin(tmp_path, 13), [tmp_path / "site"], open_library=refuse)
    assert [path.name for path in returned] == ["libcudart.so.13", "libnvrtc.so.13", "libcublas.so.13"]


def test_a_library_cut_short_is_not_opened(tmp_path: Path) -> None:
    files = linux_site(tmp_path / "site", 13)
    files["cudart"].write_bytes(files["cudart"].read_bytes()[:-8])
    opened, _ = preloaded(linux_plugin(tmp_path, 13), [tmp_path / "site"])
    assert str(files["cudart"]) not in opened


def test_windows_falls_back_to_an_installed_toolkit(tmp_path: Path) -> None:
    toolkit = tmp_path / "CUDA" / "v13.1"
    file = put(toolkit, "bin/x64", "cudart64_13.dll")
    environment = {"CUDA_PATH": str(toolkit)}
    assert preloaded(windows_plugin(tmp_path, 13), [], "win32", environment=environment)[0] == [str(file)]
    packaged = put(tmp_path / "site", "nvidia/cu13/bin/x86_64", "cudart64_13.dll")
    assert preloaded(windows_plugin(tmp_path, 13), [tmp_path / "site"], "win32", environment=environment)[0] == [str(packaged)]


def test_linux_leaves_a_toolkit_to_the_loader(tmp_path: Path) -> None:
    put(tmp_path, "bin", "libcudart.so.13")
    assert preloaded(linux_plugin(tmp_path, 13), [], environment={"CUDA_PATH": str(tmp_path)})[0] == []


def test_a_file_is_found_without_opening_it(tmp_path: Path) -> None:
    files = linux_site(tmp_path, 12)
    libraries = CudaLibraries(sites=[tmp_path], platform="linux", environment={})
    assert libraries.find("libcublas.so.12") == files["cublas"]
    assert libraries.find("libcublas.so.13") is None
    assert libraries.find("libm.so.6") is None


@pytest.mark.parametrize(
    ("name", "stem", "major"),
    [
        ("libcudart.so.13", "cudart", 13),
        ("libcublasLt.so.12", "cublasLt", 12),
        ("cudart64_13.dll", "cudart", 13),
        ("CUBLAS64_12.DLL", "cublas", 12),
        ("cublasLt64_13.dll", "cublasLt", 13),
        ("nvrtc64_120_0.dll", "nvrtc", 12),
        ("nvJitLink_130_0.dll", "nvJitLink", 13),
        ("libnvJitLink.so.13", "nvJitLink", 13),
    ],
)
def test_names(name: str, stem: str, major: int) -> None:
    known = identify(name)
    assert known is not None
    assert (known[0].stem, known[1]) == (stem, major)


@pytest.mark.parametrize("name", ["libcuda.so.1", "nvcuda.dll", "libggml-cuda.so", "libcudart.so", "kernel32.dll", "libcudart_static.a"])
def test_names_that_are_not_of_the_toolkit(name: str) -> None:
    assert identify(name) is None


@pytest.mark.parametrize(
    ("names", "command"),
    [
        (["libcudart.so.13"], 'python -m pip install "nvidia-cuda-runtime==13.*"'),
        (["libcublas.so.12", "libcublasLt.so.12"], 'python -m pip install "nvidia-cublas-cu12"'),
        (["cublas64_13.dll", "cudart64_13.dll"], 'python -m pip install "nvidia-cublas==13.*" "nvidia-cuda-runtime==13.*"'),
        (["libm.so.6"], None),
    ],
)
def test_the_command_that_brings_a_library(names: list[str], command: str | None) -> None:
    assert remedy(names) == command


def test_what_a_plugin_needs(tmp_path: Path) -> None:
    plugin = linux_plugin(tmp_path, 13)
    assert cuda_needs(plugin) == ("libcudart.so.13", "libcublas.so.13")
    assert needed_driver(plugin) == "libcuda.so.1"
    assert needed_driver(windows_plugin(tmp_path, 13)) == "nvcuda.dll"


def test_sites_are_this_packages_own_and_then_the_search_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, other, without = tmp_path / "own", tmp_path / "other", tmp_path / "without"
    for site in (own, other):
        (site / "nvidia").mkdir(parents=True)
    without.mkdir()
    monkeypatch.setattr(cuda_libraries, "__file__", str(own / "llama_cpp" / "_native" / "cuda_libraries.py"))
    assert site_folders(["", str(other), str(without), str(own), str(tmp_path / "gone")]) == [own, other]
