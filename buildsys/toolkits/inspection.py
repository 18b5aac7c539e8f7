"""What a toolkit root is: its release, what identifies it, and which GCC its headers allow."""

from __future__ import annotations

import hashlib
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from buildsys.errors import ToolkitError

# Enough to tell two toolkits apart whose code would differ, wherever each was obtained.
_TELLING_FILES = ("include/cuda_runtime_api.h", "include/cublas_api.h")
_TELLING_TREES = ("include/cccl/cub/version.cuh", "include/cub/version.cuh")


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """A toolkit as its files state it; `newest_gcc` is the newest major version that its headers accept, if they say."""

    release: str
    identity: str
    newest_gcc: int | None


def nvcc_in(root: Path) -> Path | None:
    """The compiler of the toolkit in `root`, if there is one."""
    return next((path for path in (root / "bin" / "nvcc", root / "bin" / "nvcc.exe") if path.is_file()), None)


def release_of(root: Path) -> str:
    """The release that the toolkit's compiler states; empty if there is no compiler that runs."""
    match = re.search(r"release (\d+\.\d+)", _version_text(root))
    return match[1] if match else ""


def inspect(root: Path) -> Inspection:
    """Read what the toolkit in `root` is.

    Raises:
        ToolkitError: no compiler runs there, or a part that the build needs is missing.
    """
    stated = _version_text(root)
    release = release_of(root)
    if not release:
        raise ToolkitError(f"{root} has no nvcc that runs: {stated or 'there is none'}", hint="reinstall the toolkit, or remove it")
    missing = [name for name in _TELLING_FILES if not (root / name).is_file()]
    cub = next((root / name for name in _TELLING_TREES if (root / name).is_file()), None)
    if missing or cub is None:
        parts = ", ".join([*missing, *([] if cub else ["cub (CCCL)"])])
        raise ToolkitError(f"the CUDA {release} toolkit in {root} lacks {parts}", hint="install its development packages too")
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in [*(root / name for name in _TELLING_FILES), cub]]
    return Inspection(release=release, identity="\n".join([stated.splitlines()[-1], *digests]), newest_gcc=_newest_gcc(root))


def _version_text(root: Path) -> str:
    """What `nvcc --version` says, or why it says nothing."""
    nvcc = nvcc_in(root)
    if nvcc is None:
        return ""
    try:
        return subprocess.run([nvcc, "--version"], check=True, capture_output=True, text=True, timeout=60).stdout.strip()
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)


def _newest_gcc(root: Path) -> int | None:
    header = root / "include" / "crt" / "host_config.h"
    match = re.search(r"__GNUC__ > (\d+)", header.read_text(encoding="utf-8", errors="replace")) if header.is_file() else None
    return int(match[1]) if match else None
