"""The form of a keyword's meaning, and the checks of its value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from llama_cpp._features.errors import InvalidSchemaError, UnsupportedSchemaError
from llama_cpp._features.grammar.schema.cases import Case, Conjunction
from llama_cpp._features.grammar.schema.document import Document, Site
from llama_cpp._features.grammar.schema.regex.syntax import Expression


class Unfolding(Protocol):
    """What keywords need of the conversion that they are part of."""

    document: Document

    def apply(self, case: Case, site: Site, *, positive: bool) -> list[Case]:
        """The case with a schema, or its opposite, added."""

    def contradictory(self, conjunction: Conjunction) -> bool:
        """Whether it is proven that no value satisfies all of it."""

    def expression(self, pattern: str, site: Site, keyword: str) -> Expression:
        """A pattern as an expression for whole texts."""


Meaning = Callable[[Unfolding, Case, Site], Iterable[Case]]


@dataclass(frozen=True, slots=True)
class Aspect:
    """`narrow` adds what the keywords demand to a case; `oppose` the opposite, as several cases where there are several ways."""

    keywords: tuple[str, ...]
    narrow: Meaning
    oppose: Meaning


def count(site: Site, keyword: str) -> int:
    """A number of things."""
    value = site.value[keyword]
    if isinstance(value, float | Decimal) and value == int(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidSchemaError(keyword, site.pointer, f"must be an integer of at least 0, not {value!r}")
    return value


def number(site: Site, keyword: str) -> int | float | Decimal:
    """A finite number."""
    value = site.value[keyword]
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124 - NaN
        raise InvalidSchemaError(keyword, site.pointer, f"must be a number, not {value!r}")
    return value


def names(value: Any, site: Site, keyword: str) -> list[str]:
    """A list of property names."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InvalidSchemaError(keyword, site.pointer, f"must be a list of strings, not {value!r}")
    return list(dict.fromkeys(value))


def schemas(unfolding: Unfolding, site: Site, keyword: str) -> list[Site]:
    """A list of at least one schema."""
    value = site.value[keyword]
    if not isinstance(value, list) or not value:
        raise InvalidSchemaError(keyword, site.pointer, "must be a list of at least one schema")
    return [unfolding.document.child(site, inner, keyword, index) for index, inner in enumerate(value)]


def schema_map(unfolding: Unfolding, site: Site, keyword: str) -> dict[str, Site]:
    """Schemas by name."""
    value = site.value.get(keyword, {})
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise InvalidSchemaError(keyword, site.pointer, "must be an object of schemas")
    return {name: unfolding.document.child(site, inner, keyword, name) for name, inner in value.items()}


def no_opposite(keyword: str, site: Site) -> UnsupportedSchemaError:
    """Inside `not`, `if` or `oneOf` this cannot be expressed."""
    return UnsupportedSchemaError(keyword, site.pointer, "its opposite, which not, oneOf or if/then/else need here, cannot be expressed")


def unsupported(keyword: str) -> Aspect:
    """A keyword that is always refused."""

    def refuse(_unfolding: Unfolding, _case: Case, site: Site) -> Iterable[Case]:
        raise UnsupportedSchemaError(keyword, site.pointer, "this keyword is not supported")

    return Aspect((keyword,), refuse, refuse)
