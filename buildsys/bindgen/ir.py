"""Declarations of C headers as plain data: what the parser yields and the renderers read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar


@dataclass(frozen=True)
class Void:
    """No value, or behind a pointer, anything."""


@dataclass(frozen=True)
class Scalar:
    """An arithmetic type by its ctypes name, `c_char` for plain `char`."""

    ctype: str


@dataclass(frozen=True)
class EnumType:
    """An enumeration by its tag; C passes it as an int."""

    tag: str


@dataclass(frozen=True)
class RecordType:
    """A struct or union by name; `complete` when its members are known."""

    name: str
    complete: bool


@dataclass(frozen=True)
class Pointer:
    """A pointer; `const` speaks of what it points to."""

    to: CType
    const: bool = False


@dataclass(frozen=True)
class Array:
    """A fixed-length array."""

    of: CType
    length: int


@dataclass(frozen=True)
class FunctionType:
    """The signature behind a function pointer."""

    result: CType
    params: tuple[CType, ...]


@dataclass(frozen=True)
class Named:
    """A typedef of one of the bound headers, with what it stands for."""

    name: str
    target: CType


CType: TypeAlias = Void | Scalar | EnumType | RecordType | Pointer | Array | FunctionType | Named


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter of a function; the name is empty where the header gives none."""

    name: str
    type: CType


@dataclass(frozen=True, kw_only=True)
class Function:
    """A declared function; `symbols` are the names under which a library may export it, in the order to try."""

    name: str
    result: CType
    params: tuple[Parameter, ...]
    variadic: bool = False
    deprecated: bool = False
    symbols: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Member:
    """A member of a record; `record` holds the definition where its type has no name of its own."""

    name: str
    type: CType
    record: Record | None = None
    anonymous: bool = False


@dataclass(frozen=True, kw_only=True)
class Record:
    """A complete struct or union. `spelling` is how C names the type; empty for a nested one without a tag."""

    name: str
    spelling: str
    union: bool
    members: tuple[Member, ...]
    plain_c: bool = True

    def leaves(self) -> Iterator[str]:
        """C designators of all members, those of nested records dotted (`adamw.alpha`)."""
        for member in self.members:
            if member.record is None:
                yield member.name
            elif member.anonymous:
                yield from member.record.leaves()
            else:
                yield member.name
                yield from (f"{member.name}.{leaf}" for leaf in member.record.leaves())


@dataclass(frozen=True, kw_only=True)
class Enum:
    """An enumeration; the tag is empty for one that only introduces constants."""

    tag: str
    constants: tuple[tuple[str, int], ...]


@dataclass(frozen=True, kw_only=True)
class Typedef:
    """A typedef that gives a type a second name (not one that merely repeats a tag)."""

    name: str
    target: CType


@dataclass(frozen=True, kw_only=True)
class Macro:
    """An object-like macro with a constant value."""

    name: str
    value: int | float | bytes


Declaration: TypeAlias = Function | Record | Enum | Typedef | Macro
_D = TypeVar("_D", Function, Record, Enum, Typedef, Macro)


@dataclass(kw_only=True)
class Header:
    """All that one header declares, in its own order."""

    key: str
    path: str
    sha256: str
    declarations: list[Declaration] = field(default_factory=list)
    opaque: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)

    def of(self, kind: type[_D]) -> list[_D]:
        """The declarations of one kind."""
        return [declaration for declaration in self.declarations if isinstance(declaration, kind)]
