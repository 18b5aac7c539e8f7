"""The table of bound headers (`headers.toml`): what is bound, in which modules it lands, and the few decisions by hand."""

from __future__ import annotations

from pathlib import Path

import msgspec

from buildsys.tables import load_toml

CATALOGUE = Path(__file__).with_name("headers.toml")


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A generated module: all from the declaration `first` to the next section's first, in the header's order."""

    module: str
    first: str


class BoundHeader(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One header: where it is, which library or backend owns its functions, how its modules are cut.

    With `only`, just those enumerations and macros are bound, and no function.
    """

    key: str
    path: str
    sections: tuple[Section, ...] = ()
    only: tuple[str, ...] = ()
    library: str = ""
    backend: str = ""
    cplusplus: bool = False
    constants: dict[str, tuple[str, ...]] = {}
    types: tuple[Section, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.library) == bool(self.backend):
            raise ValueError(f"header {self.key}: exactly one of library and backend must be set")
        if bool(self.sections) == bool(self.only):
            raise ValueError(f"header {self.key}: exactly one of sections and only must be set")


class Catalogue(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything the generator is told; all else it learns from the headers."""

    include: tuple[str, ...]
    prefixes: tuple[str, ...]
    header: tuple[BoundHeader, ...]
    handles: tuple[str, ...] = ()
    bytes_members: tuple[str, ...] = ()
    unnamed_members: dict[str, str] = {}
    unreachable: dict[str, str] = {}


def load_catalogue(path: Path = CATALOGUE) -> Catalogue:
    """The project's table of headers."""
    return load_toml(path, Catalogue)
