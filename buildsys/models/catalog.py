"""All models the project knows, pinned and synthetic alike: where they lie, and making them be there."""

from __future__ import annotations

import difflib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import filelock

from buildsys import download
from buildsys.errors import DownloadError, ModelError
from buildsys.models import convert, sources
from buildsys.models.lock import LockedModel, PublishedModel, read_converted, read_lock
from buildsys.models.synth import SYNTHETIC_MODELS, SyntheticModel, fingerprint, generate
from buildsys.project import cache_dir

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


class UnknownModelError(ModelError):
    """No model has that name or role."""


class ModelMissingError(ModelError):
    """A model is not there, and nothing may be fetched or a given path leads nowhere."""


class ModelDamagedError(ModelError):
    """A model file in the cache is not what it should be."""


class Model(Protocol):
    """What the command line and the conformance runner see of a model."""

    @property
    def name(self) -> str:
        """What the command line calls it."""

    @property
    def licence(self) -> str:
        """SPDX name, or the name of the terms."""

    @property
    def roles(self) -> tuple[str, ...]:
        """What tests use it for."""

    @property
    def variable(self) -> str:
        """Environment variable that hands its path to the conformance suite; empty for none."""

    @property
    def path(self) -> Path:
        """Where the cache holds it."""

    def size(self) -> int | None:
        """Bytes, as far as known."""

    def complete(self) -> bool:
        """Whether the file is there, as far as a look at it tells."""

    def intact(self) -> bool:
        """Whether every byte is as it should be."""

    def make(self) -> None:
        """Fetch or generate the file, over what may be there."""


class PinnedModel:
    """A row of models.lock and its file in the cache."""

    def __init__(self, row: LockedModel) -> None:
        self._row = row
        self.name = row.name
        self.licence = row.licence
        self.roles = row.roles
        self.variable = row.variable
        self.path = models_dir() / row.file

    def size(self) -> int:
        """The pinned size."""
        return self._row.size

    def intact(self) -> bool:
        """Whether size and hash are the pinned ones."""
        return download.matches(self.path, sha256=self._row.sha256, size=self._row.size)

    def complete(self) -> bool:
        """Whether the size is the pinned one."""
        return self.path.is_file() and self.path.stat().st_size == self._row.size

    def make(self) -> None:
        """Fetch from the first source that serves."""
        sources.fetch_model(self._row, self.path)


class GeneratedModel:
    """A synthetic model; its folder names the generator's state, so that no stale file is ever taken."""

    def __init__(self, row: SyntheticModel) -> None:
        self._row = row
        self.name = row.name
        self.licence = "MIT"
        self.roles = row.roles
        self.variable = row.variable
        self.path = models_dir() / "synthetic" / fingerprint() / row.file

    def size(self) -> int | None:
        """Bytes, once it is generated."""
        return self.path.stat().st_size if self.path.exists() else None

    def intact(self) -> bool:
        """Whether generating it again yields the same bytes."""
        if not self.path.is_file():
            return False
        again = self.path.with_suffix(f".{os.getpid()}.verify")
        try:
            generate(self._row, again)
            return download.sha256_of(again) == download.sha256_of(self.path)
        finally:
            again.unlink(missing_ok=True)

    def complete(self) -> bool:
        """Whether it is there; it gets its name when it is written to the end."""
        return self.path.is_file()

    def make(self) -> None:
        """Generate it."""
        generate(self._row, self.path)


class ConvertedModel:
    """A published model that is converted here; its folder names the converter's state, and its hash lies beside it."""

    def __init__(self, row: PublishedModel) -> None:
        self._row = row
        self.name = row.name
        self.licence = row.licence
        self.roles = row.roles
        self.variable = row.variable
        self.path = models_dir() / "converted" / convert.fingerprint(row) / row.file
        self._hash = self.path.with_suffix(".sha256")

    def size(self) -> int | None:
        """Bytes, once it is converted."""
        return self.path.stat().st_size if self.path.exists() else None

    def intact(self) -> bool:
        """Whether the bytes are those that were written."""
        return self.complete() and download.matches(self.path, sha256=self._hash.read_text(encoding="ascii"))

    def complete(self) -> bool:
        """Whether it is there; its hash is written last."""
        return self.path.is_file() and self._hash.is_file()

    def make(self) -> None:
        """Fetch what is published, and convert it."""
        self._hash.unlink(missing_ok=True)
        convert.convert(self._row, self.path)
        self._hash.write_text(download.sha256_of(self.path), encoding="ascii")


def models_dir() -> Path:
    """The shared folder of model files."""
    return cache_dir() / "models"


def catalogue() -> tuple[Model, ...]:
    """Pinned models in the order of models.lock, those converted from pinned ones, then the synthetic ones."""
    return (*map(PinnedModel, read_lock()), *map(ConvertedModel, read_converted()), *map(GeneratedModel, SYNTHETIC_MODELS))


def select(names: Iterable[str] = (), *, role: str = "") -> tuple[Model, ...]:
    """The models of those names, and those that play `role`."""
    known = {model.name: model for model in catalogue()}
    chosen = {}
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            guess = f"did you mean {near[0]}? " if near else ""
            raise UnknownModelError(f"there is no model {name}", hint=f"{guess}`python -m buildsys models list` names all")
        chosen[name] = known[name]
    if role:
        playing = {name: model for name, model in known.items() if role in model.roles}
        if not playing:
            roles = sorted({role for model in known.values() for role in model.roles})
            raise UnknownModelError(f"no model has the role {role}", hint=f"roles are {', '.join(roles)}")
        chosen.update(playing)
    return tuple(chosen.values())


def given_path(model: Model, environ: Mapping[str, str]) -> Path | None:
    """The file that the user gives by the model's environment variable; it must exist."""
    value = environ.get(model.variable, "") if model.variable else ""
    if not value:
        return None
    path = Path(value).expanduser().absolute()
    if not path.is_file():
        raise ModelMissingError(f"{model.variable} names {path}, which is no file", hint="correct or unset the variable")
    return path


def ensure(model: Model, *, offline: bool = False, thorough: bool = False) -> Path:
    """Path of the model's file, fetched or generated when it isn't there; `thorough` hashes one that is.

    `offline` forbids the network; synthetic models are generated all the same.
    """
    if (given := given_path(model, os.environ)) is not None:
        return given
    there = model.intact if thorough else model.complete
    if there():
        return model.path
    if offline and not isinstance(model, GeneratedModel):
        raise ModelMissingError(f"{model.name} is not in {models_dir()}", hint=f"run `python -m buildsys models fetch {model.name}`")
    model.path.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(model.path.with_name(model.path.name + ".lock")):
        if not there():
            model.make()
    return model.path


def verify(model: Model) -> None:
    """Hash the cached file anew; raises :class:`ModelMissingError` or :class:`ModelDamagedError`."""
    if not model.path.is_file():
        raise ModelMissingError(f"{model.name} is not at {model.path}", hint=f"run `python -m buildsys models fetch {model.name}`")
    if not model.intact():
        raise ModelDamagedError(
            f"{model.name} at {model.path} is not the file it should be",
            hint=f"delete it and run `python -m buildsys models fetch {model.name}`",
        )


def resolve(names: Iterable[str]) -> dict[str, Path]:
    """Path of each named model, made to be there; variables that the user set count."""
    return {model.name: ensure(model) for model in select(names)}


def environment(wanted: Collection[str] | None = None, *, offline: bool = False, required: bool = False) -> dict[str, str]:
    """Variable → path for the models that the conformance suite is handed: those `wanted`, or all that have a variable.

    Models that cannot be had are left out and named on stderr, or raise when `required`.
    """
    paths = {}
    for model in catalogue():
        if not model.variable or (wanted is not None and model.variable not in wanted):
            continue
        try:
            paths[model.variable] = str(ensure(model, offline=offline))
        except (ModelMissingError, sources.ModelUnavailableError, DownloadError) as error:
            if required or os.environ.get(model.variable):
                raise
            print(f"without {model.name}: {error.message}", file=sys.stderr)
    return paths
