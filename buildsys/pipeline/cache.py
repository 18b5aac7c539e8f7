"""Keys of the native cache: short digests of what an output was made from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from buildsys.project import ROOT


def digest(parts: Iterable[str]) -> str:
    """A short key for all `parts`, in their order."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def file_digests(paths: Iterable[Path]) -> Iterator[str]:
    """Each file of the project, by its place in it, with the hash of its content; folders are left out."""
    for path in paths:
        if path.is_file():
            yield f"{path.relative_to(ROOT).as_posix()}:{hashlib.sha256(path.read_bytes()).hexdigest()}"
