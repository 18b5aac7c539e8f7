"""Making one toolkit root, with the layout that CMake and nvcc know, out of packages that each hold a part."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from buildsys.errors import ToolkitError
from buildsys.toolkits.driver_stub import build_driver_stub
from buildsys.toolkits.request import Request

# Where nvcc finds its own parts, relative to itself; for packages whose own profile means their system's folders.
PROFILE = """\
TOP = $(_HERE_)/..
CICC_PATH = $(TOP)/nvvm/bin
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH += $(CICC_PATH):$(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib/stubs" "-L$(TOP)/lib"
"""
_NO_PART = shutil.ignore_patterns("__init__.py", "__pycache__", ".metadata", "LICENSE")


def gather(layout: Mapping[str, tuple[str, ...]], source: Path, root: Path, request: Request) -> None:
    """Bring what `layout` names into `root`: by folder there, the patterns below `source`.

    Raises:
        ToolkitError: a pattern matches nothing, so the packages are not what the table says.
    """
    for folder, patterns in layout.items():
        for pattern in map(request.fill, patterns):
            found = sorted(source.glob(pattern))
            if not found:
                raise ToolkitError(f"the packages of CUDA {request.release} hold no {pattern}", hint="correct the provider's layout")
            for path in found:
                _add(path, root / folder)


def complete(root: Path, request: Request) -> None:
    """Add what packages for running programs lack: `lib64`, link names, nvcc's profile, and a driver to link with.

    nvcc and CMake name libcudadevrt when they link; kernels that start kernels, which ggml has none of, would need it, so
    an empty archive does.
    """
    if not request.system.startswith("linux"):
        return
    libraries = root / "lib"
    if not (root / "lib64").exists():
        (root / "lib64").symlink_to("lib")
    for library in libraries.glob("lib*.so.*"):
        link = libraries / re.sub(r"\.so\..*", ".so", library.name)
        if not link.exists():
            link.symlink_to(library.name)
    if not (libraries / "libcudadevrt.a").exists():
        (libraries / "libcudadevrt.a").write_bytes(b"!<arch>\n")
    profile = root / "bin" / "nvcc.profile"
    if not profile.exists():
        profile.write_text(PROFILE, encoding="utf-8")
    if not (libraries / "stubs" / "libcuda.so").exists():
        build_driver_stub(libraries / "stubs", release=request.release).rename(libraries / "stubs" / "libcuda.so")


def _add(path: Path, folder: Path) -> None:
    """Into `folder`, without copying: both are in the cache."""
    if path.name in _NO_PART(str(path.parent), [path.name]):
        return
    folder.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.copytree(path, folder / path.name, symlinks=True, ignore=_NO_PART, copy_function=os.link, dirs_exist_ok=True)
    else:
        os.link(path, folder / path.name, follow_symlinks=False)
