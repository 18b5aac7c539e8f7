"""Version and requirements of the distribution, as scikit-build-core's dynamic metadata.

The environment variable LLAMA_CPP_BUILD names the row of the build matrix that a wheel is made for. A CUDA row adds its
release to the version and NVIDIA's packages to the requirements. Without it (on a user's machine, say) and for the source
distribution both are plain. scikit-build-core imports this module by itself in a build environment, so it needs the standard
library and nothing else of the build system.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BUILD_VARIABLE = "LLAMA_CPP_BUILD"

_ROOT = Path(__file__).resolve().parent.parent.parent
_VERSION_FILE = _ROOT / "package" / "llama_cpp" / "_version.py"
_MATRIX_FILE = _ROOT / "buildsys" / "matrix.toml"
_CUDA = re.compile(r"cu\d+")


class Provider:
    """The provider that `[[tool.dynamic-metadata]]` in pyproject.toml names; its hooks are the protocol's."""

    def __init__(self) -> None:
        self._is_sdist = False

    def build_state(self, build_state: str) -> None:
        """Take note of what is being built: a source distribution is of no row, whatever the environment says."""
        self._is_sdist = build_state == "sdist"

    def dynamic_metadata(self, settings: Mapping[str, Any], _project: Mapping[str, Any]) -> dict[str, Any]:
        """`version` and `dependencies`; `settings` holds the requirements that every wheel has."""
        identifier = "" if self._is_sdist else os.environ.get(BUILD_VARIABLE, "")
        label, requirements = of_row(identifier)
        return {"version": plain_version() + label, "dependencies": [*settings["dependencies"], *requirements]}

    def dynamic_wheel(self, _settings: Mapping[str, Any]) -> dict[str, bool]:
        """A wheel may have other requirements than the source distribution states."""
        return {"dependencies": True}


def plain_version() -> str:
    """The version without a label, read from the package without importing it."""
    match = re.search(r'^__version__ = "([^"]+)"$', _VERSION_FILE.read_text(encoding="utf-8"), re.MULTILINE)
    if match is None:
        raise ValueError(f"{_VERSION_FILE} must assign __version__ a plain string")
    return match[1]


def of_row(identifier: str) -> tuple[str, tuple[str, ...]]:
    """The local label (`+cu131`, or nothing) and the additional requirements of the row `identifier`; "" is no row.

    Raises ValueError when the matrix has no such row.
    """
    if not identifier:
        return "", ()
    stated = tomllib.loads(_MATRIX_FILE.read_text(encoding="utf-8"))["build"]
    row = next((build for build in stated if build["identifier"] == identifier), None)
    if row is None:
        raise ValueError(f"{BUILD_VARIABLE}={identifier} is no row of {_MATRIX_FILE.name}: choose from {_listed(stated)}")
    accelerator = identifier.rpartition("-")[2]
    label = f"+{accelerator}" if _CUDA.fullmatch(accelerator) else ""
    return label, tuple(row.get("cuda", {}).get("requires", ()))


def _listed(builds: Iterable[Mapping[str, Any]]) -> str:
    return ", ".join(build["identifier"] for build in builds)
