"""The installed distribution as files on disk: its library folder, and copies of it to break."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

DISTRIBUTION = "llama_cpp_python"
CPU_PREFIX = "ggml-cpu-"
LAYOUT_REPORT = "abi.json"
# A variant's name may have a dot of its own: libggml-cpu-armv8.2_1.so.
LIBRARY_NAME = re.compile(r"(?:lib)?(?P<stem>[\w-]+(\.\d_\d)?)\.(so|dll|dylib)(\.\d+)?")


def distribution() -> importlib.metadata.Distribution:
    """The metadata of the wheel under test."""
    return importlib.metadata.distribution(DISTRIBUTION)


def package_folder() -> Path:
    """Folder of the installed package, found without importing it."""
    spec = importlib.util.find_spec("llama_cpp")
    assert spec is not None, "llama_cpp is not installed"
    assert spec.origin is not None, "llama_cpp is no package of its own"
    return Path(spec.origin).parent


def library_folder() -> Path:
    """Folder of the native libraries in the installed package."""
    return package_folder() / "lib"


def stem(path: Path) -> str:
    """`ggml-cpu-haswell` of `libggml-cpu-haswell.so` and of `ggml-cpu-haswell.dll`."""
    match = LIBRARY_NAME.fullmatch(path.name)
    return match["stem"] if match else path.name


def libraries() -> dict[str, Path]:
    """Every native library by stem."""
    return {stem(path): path for path in sorted(library_folder().iterdir()) if LIBRARY_NAME.fullmatch(path.name)}


def cpu_variants() -> dict[str, Path]:
    """The CPU backends by variant name."""
    return {name.removeprefix(CPU_PREFIX): path for name, path in libraries().items() if name.startswith(CPU_PREFIX)}


def copy_libraries(folder: Path, *, without: Iterable[str] = ()) -> Path:
    """Copy the library set into the new `folder`, less the stems in `without`; the copies may be damaged at will."""
    omitted = set(without)
    assert omitted <= set(libraries()), f"not in the wheel: {omitted - set(libraries())}"
    folder.mkdir(parents=True)
    for name, path in libraries().items():
        if name not in omitted:
            shutil.copy2(path, folder / path.name)
    return folder


def copy_with_variant(folder: Path, variant: str) -> Path:
    """Copy the library set with `variant` as its only CPU backend."""
    return copy_libraries(folder, without=[f"{CPU_PREFIX}{name}" for name in cpu_variants() if name != variant])


def is_linux() -> bool:
    """Whether glibc's or musl's loader and /proc are there to observe."""
    return sys.platform.startswith("linux")
