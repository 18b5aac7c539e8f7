"""Reading the build system's data files into validated, frozen types."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TypeVar

import msgspec

from buildsys.errors import ConfigurationError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

T = TypeVar("T")


def load_toml(path: Path, kind: type[T]) -> T:
    """Parse `path` as a `kind`; an unknown key, a missing one or a wrong type is named with its place."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigurationError(f"{path} does not exist", hint="restore it from the repository") from None
    return parse_toml(text, kind, str(path))


def parse_toml(text: str, kind: type[T], origin: str) -> T:
    """Parse `text` as a `kind`; `origin` is what an error names it by."""
    try:
        return msgspec.convert(tomllib.loads(text), type=kind, strict=True)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, ValueError) as error:
        raise ConfigurationError(f"{origin}: {error}", hint="correct the entry that the message names") from error
