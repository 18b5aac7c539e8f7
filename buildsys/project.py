"""Where things are: the project's folders, the build cache, and the pin of llama.cpp."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import msgspec
import platformdirs

from buildsys.tables import load_toml

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "package" / "llama_cpp"
NATIVE = ROOT / "buildsys" / "native"
VENDOR = ROOT / "vendor" / "llama.cpp"
DIST = ROOT / "dist"
PIN = ROOT / "buildsys" / "pin.toml"

CACHE_VARIABLE = "LLAMA_CPP_BUILD_CACHE"


class SourceArchive(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A source distribution on the package index that carries the pinned commit with its git objects."""

    project: str
    filename: str
    sha256: str
    git_directory: str


class Pin(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The llama.cpp that everything is built from and generated against; `archive` is for machines that don't reach the origin."""

    commit: str
    repository: str
    archive: SourceArchive | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[0-9a-f]{40}", self.commit):
            raise ValueError("commit must be a full 40-digit commit id")


@cache
def pin() -> Pin:
    """The pin as `buildsys/pin.toml` states it."""
    return load_toml(PIN, Pin)


def cache_dir() -> Path:
    """Folder of everything that is costly to make again: toolchains, native output, models, environments."""
    override = os.environ.get(CACHE_VARIABLE)
    return Path(override).absolute() if override else platformdirs.user_cache_path("llama_cpp_python-build", appauthor=False)


def package_version() -> str:
    """The public version, read from the package without importing it."""
    text = (PACKAGE / "_version.py").read_text(encoding="utf-8")
    match = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    if match is None:
        raise ValueError("package/llama_cpp/_version.py must assign __version__ a plain string")
    return match[1]
