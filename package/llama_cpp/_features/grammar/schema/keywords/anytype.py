"""Keywords for values of any type: `type`, OpenAPI's `nullable`, `const`, `enum`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from llama_cpp._features.errors import InvalidSchemaError
from llama_cpp._features.grammar.schema.cases import TYPES, Case, Excluded, identity
from llama_cpp._features.grammar.schema.document import Site

from .aspect import Aspect, Unfolding


def _types(site: Site) -> list[str]:
    value = site.value["type"]
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not found or not all(isinstance(name, str) and name in TYPES | {"integer"} for name in found):
        raise InvalidSchemaError("type", site.pointer, f"must be a type or a list of types, not {value!r}")
    return [*found, "null"] if site.value.get("nullable") is True else found


def _narrow_type(_unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    if "type" not in site.value:
        return [case]
    found = _types(site)
    if "integer" not in found or "number" in found:
        return [case.only(*found)]
    others = case.only(*(name for name in found if name != "integer"))
    cases = [others] if others.types else []
    if "number" in case.types and case.numbers.whole is not False:
        cases.append(case.only("number").but(numbers=dataclasses.replace(case.numbers, whole=True)))
    return cases


def _oppose_type(_unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    if "type" not in site.value:
        return []
    found = frozenset(_types(site))
    rest = TYPES - found
    if "integer" not in found or "number" in found:
        return [case.only(*rest)]
    cases = [case.only(*(rest - {"number"}))]
    if case.numbers.whole is not True:
        cases.append(case.only("number").but(numbers=dataclasses.replace(case.numbers, whole=False)))
    return cases


def _allowing(case: Case, values: Sequence[Any]) -> Case:
    wanted = {identity(value) for value in values}
    left = values if case.values is None else [value for value in case.values if identity(value) in wanted]
    return case.but(values=tuple(left), typed=True)


def _excluding(case: Case, site: Site, values: Sequence[Any]) -> Case:
    excluded = (*case.excluded, *(Excluded(value, site) for value in values))
    return case.but(excluded=excluded)


def _enum(site: Site) -> list[Any]:
    value = site.value["enum"]
    if not isinstance(value, list) or not value:
        raise InvalidSchemaError("enum", site.pointer, "must be a list of at least one value")
    return value


ASPECTS = (
    Aspect(("type", "nullable"), _narrow_type, _oppose_type),
    Aspect(
        ("const",),
        lambda _, case, site: [_allowing(case, [site.value["const"]])],
        lambda _, case, site: [_excluding(case, site, [site.value["const"]])],
    ),
    Aspect(
        ("enum",),
        lambda _, case, site: [_allowing(case, _enum(site))],
        lambda _, case, site: [_excluding(case, site, _enum(site))],
    ),
)
