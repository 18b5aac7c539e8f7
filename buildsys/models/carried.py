"""A folder that carries the models of the tests to other machines: the files, and a manifest that says which is which.

A pipeline makes it once and hands it to every machine that proves a wheel, so that all prove on the same bytes.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec

from buildsys import download
from buildsys.models import catalog
from buildsys.models.catalog import ModelDamagedError, ModelMissingError

MANIFEST = "models.json"
_REMAKE = "make the folder again with `python -m buildsys models export`"


class CarriedModel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of the folder; `variable` hands its path to the conformance suite."""

    variable: str
    file: str
    size: int
    sha256: str


def export(folder: Path) -> tuple[CarriedModel, ...]:
    """Copy every model that the suite may be handed into `folder`, fetched or generated if need be, and write the manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    models = tuple(_carry(model, folder) for model in catalog.catalogue() if model.variable)
    (folder / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(models)))
    return models


def _carry(model: catalog.Model, folder: Path) -> CarriedModel:
    path = catalog.ensure(model, thorough=True)
    copy = Path(shutil.copy2(path, folder / path.name))
    return CarriedModel(variable=model.variable, file=path.name, size=copy.stat().st_size, sha256=download.sha256_of(copy))


def variables(folder: Path) -> dict[str, str]:
    """Variable → path of each model in `folder`, all of them hashed again. Nothing is fetched.

    Raises:
        ModelMissingError: no manifest, or a file that it names isn't there.
        ModelDamagedError: the manifest cannot be read, or a file isn't the one that was put in.
    """
    manifest = folder / MANIFEST
    if not manifest.is_file():
        raise ModelMissingError(f"{folder} has no {MANIFEST}", hint=_REMAKE)
    try:
        models = msgspec.json.decode(manifest.read_bytes(), type=tuple[CarriedModel, ...])
    except msgspec.DecodeError as error:
        raise ModelDamagedError(f"{manifest}: {error}", hint=_REMAKE) from error
    return {model.variable: str(_intact(folder.absolute() / model.file, model)) for model in models}


def _intact(path: Path, model: CarriedModel) -> Path:
    if not path.is_file():
        raise ModelMissingError(f"{path} is missing: {model.variable} stands for it", hint=_REMAKE)
    if not download.matches(path, sha256=model.sha256, size=model.size):
        raise ModelDamagedError(f"{path} is not the file that the manifest names", hint=_REMAKE)
    return path
