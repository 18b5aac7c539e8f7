from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from buildsys import toolkits
from buildsys.errors import DownloadError, ToolkitError
from buildsys.toolkits import assembly
from buildsys.toolkits.archives import ArchivesProvider
from buildsys.toolkits.request import Request
from tests.buildsys.file_server import FileServer, Served, file_server

FILES = {
    "cuda_nvcc": ["bin/nvcc", "LICENSE"],
    "cuda_cudart": ["include/cuda_runtime_api.h", "lib/libcudart.so.13", "LICENSE"],
    "cuda_cccl": ["include/cccl/cub/version.cuh"],
    "libcublas": ["include/cublas_api.h"],
    "cuda_crt": ["include/crt/host_config.h"],
    "libnvvm": ["nvvm/bin/cicc"],
}


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    monkeypatch.setattr(assembly, "complete", lambda _root, _request: None)
    with file_server() as server:
        yield server


def provider(site: FileServer) -> ArchivesProvider:
    stated = toolkits.table().provider["nvidia-archives"]
    assert isinstance(stated, ArchivesProvider)
    return msgspec.structs.replace(stated, site=f"{site.url}/redist/")


def archive(component: str, *, windows: bool) -> bytes:
    content, top = io.BytesIO(), f"{component}-archive"
    if windows:
        with zipfile.ZipFile(content, "w") as bundle:
            for name in FILES[component]:
                bundle.writestr(f"{top}/{name}", name)
    else:
        with tarfile.open(fileobj=content, mode="w:xz") as bundle:
            for name in FILES[component]:
                member = tarfile.TarInfo(f"{top}/{name}")
                member.size = len(name)
                bundle.addfile(member, io.BytesIO(name.encode()))
    return content.getvalue()


def publish(site: FileServer, label: str, components: list[str], *, windows: bool = False) -> None:
    manifest: dict[str, object] = {"release_label": label}
    platform, suffix = ("windows-x86_64", "zip") if windows else ("linux-x86_64", "tar.xz")
    for component in components:
        content, path = archive(component, windows=windows), f"{component}/{platform}/{component}-archive.{suffix}"
        site.files[f"/redist/{path}"] = Served(content)
        manifest[component] = {platform: {"relative_path": path, "sha256": hashlib.sha256(content).hexdigest(), "size": str(len(content))}}
    site.files[f"/redist/redistrib_{label}.json"] = Served(json.dumps(manifest).encode())


@pytest.mark.parametrize("windows", [False, True])
def test_the_components_of_a_release_become_one_toolkit(site: FileServer, tmp_path: Path, windows: bool) -> None:
    publish(site, "13.1.0", list(FILES), windows=windows)
    request = Request(release="13.1", system="windows_amd64" if windows else "linux_x86_64")
    root = provider(site).obtain(request, tmp_path / "place")
    expected = {name for names in FILES.values() for name in names if name != "LICENSE"}
    assert {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()} == expected
    assert not [path for path in tmp_path.iterdir() if path != root and path.suffix != ".lock"]


def test_the_newest_update_of_a_release_is_taken(site: FileServer, tmp_path: Path) -> None:
    publish(site, "12.4.0", [])
    publish(site, "12.4.1", ["cuda_nvcc", "cuda_cudart", "cuda_cccl", "libcublas"])
    root = provider(site).obtain(Request(release="12.4", system="linux_x86_64"), tmp_path / "place")
    assert (root / "bin" / "nvcc").is_file()
    assert not (root / "nvvm").exists()


def test_a_release_that_is_not_published_is_told(site: FileServer, tmp_path: Path) -> None:
    with pytest.raises(ToolkitError, match=r"no manifest of CUDA 12\.9: redistrib_12\.9\.3\.json: 404"):
        provider(site).obtain(Request(release="12.9", system="linux_x86_64"), tmp_path / "place")


def test_a_component_that_the_manifest_lacks_is_named(site: FileServer, tmp_path: Path) -> None:
    publish(site, "12.6.3", ["cuda_nvcc"])
    with pytest.raises(ToolkitError, match="has no cuda_cudart for linux_x86_64"):
        provider(site).obtain(Request(release="12.6", system="linux_x86_64"), tmp_path / "place")


def test_an_archive_that_is_not_what_the_manifest_says_is_refused(site: FileServer, tmp_path: Path) -> None:
    publish(site, "12.6.3", ["cuda_nvcc"])
    site.files["/redist/cuda_nvcc/linux-x86_64/cuda_nvcc-archive.tar.xz"] = Served(b"something else")
    with pytest.raises(DownloadError, match="is pinned"):
        provider(site).obtain(Request(release="12.6", system="linux_x86_64"), tmp_path / "place")
    assert not (tmp_path / "place").exists()
