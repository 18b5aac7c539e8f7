"""Rows of `cpus.toml`: the processors that dispatch is proved on."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from buildsys.errors import UnknownBuildError
from buildsys.tables import load_toml

if TYPE_CHECKING:
    from collections.abc import Sequence


class Processor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A processor by qemu's name, and the variant that a wheel must choose on it."""

    model: str
    variant: str


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    cpu: tuple[Processor, ...]


class UnknownProcessorError(UnknownBuildError):
    """A processor was asked for that the table doesn't hold."""


@cache
def processors() -> tuple[Processor, ...]:
    """All rows, oldest processor first."""
    return load_toml(Path(__file__).with_name("cpus.toml"), _Table).cpu


def select(models: Sequence[str] | None) -> tuple[Processor, ...]:
    """The rows named, in the table's order; all without names."""
    known = {row.model.lower() for row in processors()}
    unknown = [model for model in models or () if model.lower() not in known]
    if unknown:
        raise UnknownProcessorError(
            f"no emulated processor is called {', '.join(unknown)}", hint=f"choose from: {', '.join(row.model for row in processors())}"
        )
    wanted = {model.lower() for model in models} if models else known
    return tuple(row for row in processors() if row.model.lower() in wanted)
