from __future__ import annotations

from pathlib import Path

import pytest

from buildsys.errors import ToolkitError
from buildsys.toolkits import assembly
from buildsys.toolkits.request import Request

LINUX = Request(release="13.1", system="linux_x86_64")


@pytest.fixture(autouse=True)
def stub(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(folder: Path, *, release: str) -> Path:
        folder.mkdir(parents=True)
        library = folder / "libcuda.so.1"
        library.write_text(f"driver for {release}", encoding="utf-8")
        return library

    monkeypatch.setattr(assembly, "build_driver_stub", build)


def write(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name, encoding="utf-8")


def files(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if not path.is_dir()}


def test_parts_of_several_packages_become_one_tree(tmp_path: Path) -> None:
    write(tmp_path / "parts", "nvidia/a/include/a.h", "nvidia/a/include/crt/x.h", "nvidia/b/include/b.h", "nvidia/b/include/crt/y.h")
    write(tmp_path / "parts", "nvidia/a/include/__init__.py", "nvidia/b/include/__init__.py", "nvidia/b/__init__.py", "usr/bin/ptxas")
    layout = {"include": ("nvidia/*/include/*",), "bin": ("usr/bin/ptxas",)}
    assembly.gather(layout, tmp_path / "parts", tmp_path / "root", LINUX)
    assert files(tmp_path / "root") == {"include/a.h", "include/b.h", "include/crt/x.h", "include/crt/y.h", "bin/ptxas"}


def test_the_release_is_filled_into_the_layout(tmp_path: Path) -> None:
    write(tmp_path / "parts", "nvidia/cu13/bin/nvcc")
    assembly.gather({".": ("nvidia/cu{major}/*",)}, tmp_path / "parts", tmp_path / "root", LINUX)
    assert files(tmp_path / "root") == {"bin/nvcc"}


def test_a_pattern_without_a_match_is_an_error_of_the_table(tmp_path: Path) -> None:
    write(tmp_path / "parts", "usr/bin/ptxas")
    with pytest.raises(ToolkitError, match=r"hold no usr/bin/cicc"):
        assembly.gather({"bin": ("usr/bin/cicc",)}, tmp_path / "parts", tmp_path / "root", LINUX)


def test_a_linux_root_gets_what_linking_needs_and_packages_for_running_lack(tmp_path: Path) -> None:
    write(tmp_path, "lib/libcudart.so.13", "lib/libcublas.so.13", "bin/nvcc")
    assembly.complete(tmp_path, LINUX)
    assert (tmp_path / "lib64" / "libcudart.so").read_text(encoding="utf-8") == "lib/libcudart.so.13"
    assert (tmp_path / "lib" / "libcublas.so").readlink() == Path("libcublas.so.13")
    assert (tmp_path / "lib64" / "stubs" / "libcuda.so").read_text(encoding="utf-8") == "driver for 13.1"
    assert (tmp_path / "lib" / "libcudadevrt.a").read_bytes() == b"!<arch>\n"
    assert "CICC_PATH = $(TOP)/nvvm/bin" in (tmp_path / "bin" / "nvcc.profile").read_text(encoding="utf-8")


def test_what_a_toolkit_brings_itself_stays(tmp_path: Path) -> None:
    own = ("lib/libcudart.so", "lib/libcudadevrt.a", "lib/stubs/libcuda.so", "bin/nvcc.profile", "lib64/x")
    write(tmp_path, *own, "lib/libcudart.so.13")
    assembly.complete(tmp_path, LINUX)
    assert {(tmp_path / name).read_text(encoding="utf-8") for name in own} == set(own)


def test_a_windows_root_is_complete_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, "lib/x64/cudart.lib")
    assembly.complete(tmp_path, Request(release="13.1", system="windows_amd64"))
    assert files(tmp_path) == {"lib/x64/cudart.lib"}
