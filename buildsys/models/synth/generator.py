"""Turning a row of the table into a file, and telling one state of the generator from another."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from buildsys.models.synth.catalog import SyntheticModel


def generate(model: SyntheticModel, target: Path) -> Path:
    """Write the model to `target`, which appears only when it is complete."""
    from buildsys.models.synth.gguf_file import GgufFile  # noqa: PLC0415 - numpy and gguf, for generating only

    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        file = GgufFile(unfinished, model.architecture, seed=model.seed)
        file.set("general.name", model.name)
        model.write(file, model.vocabulary(file))
        file.close()
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    return target


@cache
def fingerprint() -> str:
    """Changes whenever generated files may: a digest over the generator's sources and the gguf package's version."""
    digest = hashlib.sha256(importlib.metadata.version("gguf").encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:12]
