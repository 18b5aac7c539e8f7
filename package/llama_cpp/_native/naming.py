"""File names of the native libraries and of the backend plugins, per platform.

Pure functions of a platform name; what lies in a folder is read by `libraries` and `backends`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

_BASE_LIBRARIES = frozenset({"ggml", "ggml-base"})


@dataclass(frozen=True, kw_only=True)
class FileNaming:
    """How one platform spells shared libraries and plugins."""

    prefixes: tuple[str, ...]
    library_suffix: str
    plugin_suffix: str

    def library_files(self, name: str) -> tuple[str, ...]:
        """Possible file names of library `name`, the preferred one first."""
        return tuple(f"{prefix}{name}{self.library_suffix}" for prefix in self.prefixes)

    def plugin_stem(self, file_name: str) -> str | None:
        """`cpu-haswell` for `libggml-cpu-haswell.so`; None when the file is no backend plugin."""
        if not file_name.endswith(self.plugin_suffix):
            return None
        stem = file_name[: -len(self.plugin_suffix)]
        for prefix in sorted(self.prefixes, key=len, reverse=True):
            if stem.startswith(f"{prefix}ggml-"):
                bare = stem[len(prefix) :]
                return None if bare in _BASE_LIBRARIES else bare[len("ggml-") :]
        return None


_POSIX = FileNaming(prefixes=("lib",), library_suffix=".so", plugin_suffix=".so")
_MACOS = FileNaming(prefixes=("lib",), library_suffix=".dylib", plugin_suffix=".so")
_WINDOWS = FileNaming(prefixes=("", "lib"), library_suffix=".dll", plugin_suffix=".dll")


def naming_for(platform: str = sys.platform) -> FileNaming:
    """The naming of a platform, given as `sys.platform` spells it."""
    if platform in ("win32", "cygwin"):
        return _WINDOWS
    return _MACOS if platform == "darwin" else _POSIX
