"""Tiny real wheels and source distributions of the project, contradictions on request."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

NAME = "llama_cpp_python"
LINUX = "manylinux_2_28_x86_64"


def metadata(version: str, *, name: str = NAME, requires_python: str = ">=3.10", requires: tuple[str, ...] = ()) -> str:
    lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Python: {requires_python}"] if requires_python else []
    return "\n".join([*lines, *(f"Requires-Dist: {each}" for each in requires), "", ""])


def make_wheel(
    folder: Path,
    version: str = "0.4.0",
    platform: str = LINUX,
    *,
    metadata_text: str = "",
    dist_info: str = "",
    tag: str = "",
    content: str = "",
) -> Path:
    """A wheel whose `llama_cpp` tells its version. What isn't given follows from version and platform."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{NAME}-{version}-py3-none-{platform}.whl"
    info = dist_info or f"{NAME}-{version}.dist-info"
    files = {
        "llama_cpp/__init__.py": f'__version__ = "{version}"\n{content}',
        f"{info}/METADATA": metadata_text or metadata(version),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: {tag or f'py3-none-{platform}'}\n",
    }
    record = "".join(f"{name},sha256={_digest(text)},{len(text.encode())}\n" for name, text in files.items())
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return path


def make_sdist(folder: Path, version: str = "0.4.0", *, stated: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{NAME}-{version}.tar.gz"
    text = metadata(stated or version).encode()
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo(f"{NAME}-{version}/PKG-INFO")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    return path


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
