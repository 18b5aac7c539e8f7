"""A case: everything that one alternative of a schema demands of a value, by type. Schemas are unfolded into lists of them.

A conjunction is a tuple of schemas that hold together, each as it is or negated. What lies inside objects and arrays
stays a conjunction: it is unfolded when its turn comes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

from .document import Site
from .numerals import Interval, exact
from .regex.syntax import Expression

TYPES = frozenset({"null", "boolean", "object", "array", "number", "string"})


class Signed(NamedTuple):
    """A schema, or its opposite."""

    site: Site
    positive: bool = True


Conjunction: TypeAlias = tuple[Signed, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The properties of one schema object: `rest` is for names that are neither declared here nor match a pattern here."""

    properties: Mapping[str, Site]
    patterns: tuple[tuple[Expression, Site], ...] = ()
    rest: Site | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """The items of one schema object: `rest` is for items behind the prefix."""

    prefix: tuple[Site, ...]
    rest: Site | None = None


@dataclass(frozen=True, slots=True)
class Containment:
    """So many items have to satisfy a conjunction."""

    wanted: Conjunction
    minimum: int = 1
    maximum: int | None = None


class Excluded(NamedTuple):
    """A value that is not allowed, and the schema that says so."""

    value: Any
    site: Site


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """The demands. `typed`: types were named; else `implied` types are meant, those whose keywords occur."""

    types: frozenset[str] = TYPES
    typed: bool = False
    implied: frozenset[str] = frozenset()
    values: tuple[Any, ...] | None = None
    excluded: tuple[Excluded, ...] = ()

    numbers: Interval = field(default_factory=Interval)

    min_length: int = 0
    max_length: int | None = None
    patterns: tuple[tuple[Expression, bool], ...] = ()

    min_items: int = 0
    max_items: int | None = None
    listings: tuple[Listing, ...] = ()
    at: tuple[tuple[int, Signed], ...] = ()
    unique: Site | None = None
    containments: tuple[tuple[Containment, Site], ...] = ()

    min_properties: tuple[int, Site | None] = (0, None)
    max_properties: int | None = None
    scopes: tuple[Scope, ...] = ()
    extra: tuple[tuple[str, Signed], ...] = ()
    required: tuple[str, ...] = ()
    forbidden: frozenset[str] = frozenset()
    names: Conjunction = ()
    closed: bool = False

    def but(self, **changes: Any) -> Case:
        """A copy with changes."""
        return dataclasses.replace(self, **changes)

    def only(self, *types: str) -> Case:
        """Of these types only."""
        return self.but(types=self.types & frozenset(types), typed=True)

    def implying(self, name: str) -> Case:
        """With a type that is meant when none is named."""
        return self if self.typed or name in self.implied else self.but(implied=self.implied | {name})

    @property
    def meant(self) -> frozenset[str]:
        """The types that values may have."""
        return self.types & self.implied if self.implied and not self.typed else self.types

    def item(self, index: int) -> Conjunction:
        """What holds for the item at an index."""
        found = [Signed(listing.prefix[index]) for listing in self.listings if index < len(listing.prefix)]
        found += [Signed(listing.rest) for listing in self.listings if index >= len(listing.prefix) and listing.rest is not None]
        return conjunction([*found, *(signed for at, signed in self.at if at == index)])

    @property
    def positions(self) -> int:
        """How many items are told apart by their place."""
        return max([len(listing.prefix) for listing in self.listings] + [index + 1 for index, _ in self.at], default=0)

    @property
    def declared(self) -> list[str]:
        """Names of properties in the order of declaration, then those that are only required."""
        names = dict.fromkeys(name for scope in self.scopes for name in scope.properties)
        names.update(dict.fromkeys(self.required))
        names.update(dict.fromkeys(name for name, _ in self.extra))
        return list(names)


def conjunction(parts: Iterable[Signed]) -> Conjunction:
    """Without repetitions, and without what is always true."""
    found: dict[tuple[int, bool], Signed] = {}
    for part in parts:
        value = part.site.value
        if (value is True or value == {}) and part.positive:
            continue
        found.setdefault((id(part.site), part.positive), part)
    return tuple(found.values())


def key(parts: Conjunction) -> tuple[tuple[int, bool], ...]:
    """What makes two conjunctions the same."""
    return tuple((id(part.site), part.positive) for part in parts)


def identity(value: Any) -> Any:
    """What makes two JSON values equal: 1 and 1.0 are, 1 and true are not, the order of members counts not."""
    if isinstance(value, bool) or value is None:
        return ("constant", value)
    if isinstance(value, int | float | Decimal):
        return ("number", exact(value))
    if isinstance(value, str):
        return ("string", value)
    if isinstance(value, dict):
        return ("object", frozenset((name, identity(inner)) for name, inner in value.items()))
    return ("array", tuple(identity(inner) for inner in value))


def type_of(value: Any) -> str:
    """The JSON type; integers are numbers."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float | Decimal):
        return "number"
    return "string" if isinstance(value, str) else "object" if isinstance(value, dict) else "array"
