"""CUDA's own libraries: which package brings each, where they lie, and opening them before a plugin needs them.

The packages are found by their layout below `site-packages`, without importing or searching metadata. What no package
brings is left to the loader's own search, such as an installed toolkit. Whether there is a GPU is `cuda_driver`'s.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .diagnosis import truncation
from .import_tables import needed_libraries
from .loaded_modules import is_loaded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

DRIVER = {"linux": "libcuda.so.1", "win32": "nvcuda.dll"}
"""The driver's library per system. It belongs to the machine and comes in no package."""

TOOLKIT_VARIABLE = "CUDA_PATH"
_ONE_FOLDER_SINCE = 13  # from this release on all packages share nvidia/cuNN; before, each has a folder of its own


@dataclass(frozen=True, kw_only=True)
class CudaLibrary:
    """One library of the toolkit. `{}` in `windows` is the major release; `opens` are those it opens by name later on."""

    stem: str
    windows: str
    package: str
    folder: str
    opens: tuple[str, ...] = ()

    def file(self, major: int, platform: str) -> str:
        """Its file name, which may hold a shell-style wildcard."""
        return self.windows.format(major) if platform == "win32" else f"lib{self.stem}.so.{major}"

    def requirement(self, major: int) -> str:
        """What to ask pip for."""
        return f"{self.package}=={major}.*" if major >= _ONE_FOLDER_SINCE else f"{self.package}-cu{major}"

    def folders(self, major: int, platform: str) -> tuple[str, ...]:
        """Folders below `site-packages` where its package puts it."""
        if major >= _ONE_FOLDER_SINCE:
            return (f"nvidia/cu{major}/bin/x86_64", f"nvidia/cu{major}/bin") if platform == "win32" else (f"nvidia/cu{major}/lib",)
        return (f"nvidia/{self.folder}/{'bin' if platform == 'win32' else 'lib'}",)


_LIBRARIES = (
    CudaLibrary(stem="cudart", windows="cudart64_{}.dll", package="nvidia-cuda-runtime", folder="cuda_runtime"),
    CudaLibrary(stem="cublas", windows="cublas64_{}.dll", package="nvidia-cublas", folder="cublas"),
    CudaLibrary(stem="cublasLt", windows="cublasLt64_{}.dll", package="nvidia-cublas", folder="cublas", opens=("nvrtc",)),
    CudaLibrary(stem="nvrtc", windows="nvrtc64_{}?_0.dll", package="nvidia-cuda-nvrtc", folder="cuda_nvrtc"),
    CudaLibrary(stem="nvJitLink", windows="nvJitLink_{}?_0.dll", package="nvidia-nvjitlink", folder="nvjitlink"),
)
_BY_STEM = {library.stem.lower(): library for library in _LIBRARIES}
_NAMES = (
    re.compile(r"lib(?P<stem>\w+)\.so\.(?P<major>\d+)"),
    re.compile(r"(?P<stem>[a-z]+)(?:64)?_(?P<major>\d\d)(?:\d_0)?\.dll", re.IGNORECASE),
)


def identify(name: str) -> tuple[CudaLibrary, int] | None:
    """Which library of CUDA, and of which major release, a file of that name is; None for any other."""
    for pattern in _NAMES:
        match = pattern.fullmatch(name)
        library = _BY_STEM.get(match["stem"].lower()) if match else None
        if match and library:
            return library, int(match["major"])
    return None


def remedy(names: Iterable[str]) -> str | None:
    """The command that brings the libraries `names`; None when none of them is CUDA's."""
    known = [each for name in names if (each := identify(name))]
    requirements = dict.fromkeys(f'"{library.requirement(major)}"' for library, major in known)
    return f"python -m pip install {' '.join(requirements)}" if requirements else None


def cuda_needs(plugin: Path) -> tuple[str, ...]:
    """The libraries of CUDA, the driver's left out, that a plugin names as its needs."""
    return tuple(name for name in needed_libraries(plugin) if identify(name))


def needed_driver(plugin: Path) -> str | None:
    """The driver's library, when a plugin cannot be opened without it."""
    return next((name for name in needed_libraries(plugin) if name.lower() in DRIVER.values()), None)


def site_folders(search_path: Iterable[str] | None = None) -> list[Path]:
    """Where packages are installed: beside this package first, then along `sys.path`."""
    own = Path(__file__).resolve().parent.parent.parent
    entries = (Path(entry) for entry in (sys.path if search_path is None else search_path) if entry)
    return list(dict.fromkeys(path for path in (own, *entries) if (path / "nvidia").is_dir()))


class CudaLibraries:
    """Finds and opens the libraries of CUDA for plugins; an open one stays open."""

    def __init__(
        self,
        *,
        sites: Sequence[Path] | None = None,
        platform: str = sys.platform,
        environment: Mapping[str, str] = os.environ,
        open_library: Callable[[str], object] = ctypes.CDLL,
        loaded: Callable[[str], bool] = is_loaded,
    ) -> None:
        self._sites = site_folders() if sites is None else sites
        self._platform = platform
        self._environment = environment
        self._open_library = open_library
        self._loaded = loaded

    def find(self, name: str) -> Path | None:
        """The file that will serve a need for `name`: a package's, or on Windows the toolkit's; None leaves it to the loader."""
        known = identify(name)
        return None if known is None else self._first_file(*known)

    def preload(self, plugin: Path) -> list[Path]:
        """Open by absolute path what `plugin` needs of CUDA, dependencies first, so that no search puts another in its place.

        Returns the files that were opened. What is in the process already serves, and what is found nowhere is left to the
        loader, as is a file that doesn't open: the plugin's own failure then says why.
        """
        opened: list[Path] = []
        seen: set[str] = set()
        for name in cuda_needs(plugin):
            self._preload(name, seen, opened)
        return opened

    def _preload(self, name: str, seen: set[str], opened: list[Path]) -> None:
        known = identify(name)
        if known is None or name in seen:
            return
        seen.add(name)
        path = None if self._loaded(name) else self._first_file(*known)
        if path is None or truncation(path) is not None:
            return
        library, major = known
        later = (self._first_file(_BY_STEM[stem], major) for stem in library.opens)
        for dependency in (*(file.name for file in later if file is not None), *needed_libraries(path)):
            self._preload(dependency, seen, opened)
        if sys.platform == "win32":
            os.add_dll_directory(str(path.parent))
        try:
            self._open_library(str(path))
        except OSError:
            return
        opened.append(path)

    def _first_file(self, library: CudaLibrary, major: int) -> Path | None:
        pattern = library.file(major, self._platform)
        return next((file for folder in self._folders(library, major) for file in sorted(folder.glob(pattern))), None)

    def _folders(self, library: CudaLibrary, major: int) -> Iterator[Path]:
        below = library.folders(major, self._platform)
        yield from (site / folder for site in self._sites for folder in below)
        toolkit = self._environment.get(TOOLKIT_VARIABLE)
        if toolkit and self._platform == "win32":  # elsewhere the loader's own configuration knows the toolkit
            yield from (Path(toolkit, "bin", "x64"), Path(toolkit, "bin"))
