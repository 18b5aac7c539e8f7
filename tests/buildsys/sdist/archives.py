"""Source distributions in small, to be spoilt one property at a time."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

from buildsys.project import package_version
from buildsys.sdist.contents import policy
from buildsys.sdist.make import file_name

FOLDER = file_name().removesuffix(".tar.gz")
INFO = f"""Metadata-Version: 2.4
Name: llama_cpp_python
Version: {package_version()}
Requires-Dist: numpy>=1.24
Requires-Dist: hf; extra == 'hf'
"""
PROJECT = '[build-system]\nrequires = ["scikit-build-core>=1.0"]\n'


def sound_files() -> dict[str, bytes]:
    """All that is required, in small."""
    return dict.fromkeys(policy().required, b"") | {"PKG-INFO": INFO.encode(), "pyproject.toml": PROJECT.encode()}


def written(folder: Path, files: Mapping[str, bytes], *, link: str = "", name: str = "") -> Path:
    """Write the archive; `link` adds a symbolic link of that name."""
    path = folder / (name or file_name())
    with tarfile.open(path, "w:gz") as archive:
        for member, content in files.items():
            entry = tarfile.TarInfo(member if member.startswith("/") else f"{FOLDER}/{member}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
        if link:
            entry = tarfile.TarInfo(f"{FOLDER}/{link}")
            entry.type, entry.linkname = tarfile.SYMTYPE, "target"
            archive.addfile(entry)
    return path
