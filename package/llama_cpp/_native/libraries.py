"""The core native libraries: which folder they come from, and opening each of them once, by absolute path.

Backend plugins are opened by `backends`; symbols are looked up by the bindings.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from .diagnosis import explain, truncation
from .errors import NativeLibraryError
from .naming import FileNaming, naming_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LIBRARY_PATH_VARIABLE = "LLAMA_CPP_LIB_PATH"
MULTIMODAL_VARIABLES = ("MTMD_CPP_LIB", "LLAVA_CPP_LIB")
CORE_LIBRARIES = ("ggml-base", "ggml", "llama", "mtmd")
"""In dependency order: each needs only those before it."""

_OWN_NAMES = ("ggml", "llama", "mtmd")


class LibrarySet:
    """The core libraries of one folder. Thread-safe; a library that is open stays open.

    `multimodal` names another file for mtmd, or one beside it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        multimodal: Path | None = None,
        naming: FileNaming | None = None,
        open_library: Callable[[str], ctypes.CDLL] = ctypes.CDLL,
    ) -> None:
        self.folder = folder
        self._multimodal = multimodal
        self._naming = naming or naming_for()
        self._open_library = open_library
        self._opened: dict[str, ctypes.CDLL] = {}
        self._prepared = False
        self._lock = threading.RLock()

    def library(self, name: str) -> ctypes.CDLL:
        """Library `name` of `CORE_LIBRARIES`, opened after those it needs.

        Raises `NativeLibraryError` naming the file and the missing dependency.
        """
        found = self._opened.get(name)
        if found is not None:
            return found
        with self._lock:
            self._prepare()
            for needed in CORE_LIBRARIES[: CORE_LIBRARIES.index(name) + 1]:
                if needed not in self._opened:
                    self._opened[needed] = self._open(needed)
            return self._opened[name]

    def file(self, name: str) -> Path:
        """The file of core library `name`; `NativeLibraryError` when the folder has none."""
        folder, candidates = self.folder, self._naming.library_files(name)
        if name == "mtmd" and self._multimodal is not None:
            if self._multimodal.is_file():
                return self._multimodal
            folder = self._multimodal.parent
        for candidate in candidates:
            path = folder / candidate
            if path.is_file():
                return path
        raise NativeLibraryError(
            f"{candidates[0]} not found in {folder}. {_next_step(folder)}",
        )

    def _open(self, name: str) -> ctypes.CDLL:
        path = self.file(name)
        damage = truncation(path)
        if damage is None:
            try:
                return self._open_library(str(path))
            except OSError as error:
                damage = explain(path, error)
                cause: OSError | None = error
        else:
            cause = None
        raise NativeLibraryError(
            f"{path.name} could not be opened: {damage} (in {path.parent}). {_next_step(path.parent)}",
        ) from cause

    def _prepare(self) -> None:
        """Open what else is bundled (an OpenMP runtime), so that no search path can put another in its place."""
        if self._prepared:
            return
        self._prepared = True
        if sys.platform == "win32" and self.folder.is_dir():
            os.add_dll_directory(str(self.folder))
        for path in self._bundled_runtimes():
            try:
                if truncation(path) is None:
                    self._open_library(str(path))
            except OSError:
                continue  # whoever needs it fails with a message that names it

    def _bundled_runtimes(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        suffix = self._naming.library_suffix
        return sorted(
            path
            for path in self.folder.iterdir()
            if (path.name.endswith(suffix) or f"{suffix}." in path.name) and not path.name.removeprefix("lib").startswith(_OWN_NAMES)
        )


def resolve_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The absolute folder of the native libraries: the user's own set when the environment names one."""
    chosen = environment.get(LIBRARY_PATH_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    return Path(__file__).resolve().parent.parent / "lib"


def resolve_multimodal(environment: Mapping[str, str] = os.environ) -> Path | None:
    """The multimodal library that the user chose, if any."""
    chosen = next((environment[name] for name in MULTIMODAL_VARIABLES if environment.get(name)), None)
    return None if chosen is None else Path(chosen).expanduser().absolute()


def library_folder() -> Path:
    """The folder that this process takes its native libraries from; fixed at the first call."""
    return _process_set().folder


def library(name: str) -> ctypes.CDLL:
    """A core library of this process, by its bare name: `ggml-base`, `ggml`, `llama` or `mtmd`."""
    return _process_set().library(name)


def _next_step(folder: Path) -> str:
    chosen = next((name for name in MULTIMODAL_VARIABLES if os.environ.get(name)), None)
    if chosen is not None and folder == Path(os.environ[chosen]).expanduser().absolute().parent:
        return f"{chosen} chose this folder: let it name the file of a complete set, or unset it to use the packaged one."
    if os.environ.get(LIBRARY_PATH_VARIABLE):
        return f"{LIBRARY_PATH_VARIABLE} chose this folder: point it at a complete set, or unset it to use the packaged one."
    if not folder.is_dir():
        return (
            "This installation has no native libraries: install a wheel of llama_cpp_python, "
            f"or set {LIBRARY_PATH_VARIABLE} to a folder that holds them."
        )
    return "Reinstall the wheel: pip install --force-reinstall llama_cpp_python."


_set: LibrarySet | None = None
_set_lock = threading.Lock()


def _process_set() -> LibrarySet:
    global _set  # noqa: PLW0603 - native code has process-wide state
    if _set is None:
        with _set_lock:
            if _set is None:
                _set = LibrarySet(resolve_folder(), multimodal=resolve_multimodal())
    return _set
