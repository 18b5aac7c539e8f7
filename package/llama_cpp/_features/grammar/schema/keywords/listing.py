"""Keywords for arrays. A schema that names no type and has one of them means arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llama_cpp._features.errors import InvalidSchemaError, UnsupportedSchemaError
from llama_cpp._features.grammar.schema.cases import Case, Containment, Listing, Signed, conjunction
from llama_cpp._features.grammar.schema.document import Site

from .aspect import Aspect, Unfolding, count, no_opposite


def listing(unfolding: Unfolding, site: Site) -> Listing:
    """`prefixItems` and `items`, or their older spelling: a list as `items`, and `additionalItems`."""
    schema, document = site.value, unfolding.document
    items = schema.get("items", True)
    if isinstance(items, list):
        if "prefixItems" in schema:
            raise InvalidSchemaError("items", site.pointer, "must be a schema where prefixItems is used")
        rest = schema.get("additionalItems", True)
        return Listing(_sites(unfolding, site, "items", items), document.child(site, rest, "additionalItems"))
    prefix = schema.get("prefixItems", [])
    if not isinstance(prefix, list):
        raise InvalidSchemaError("prefixItems", site.pointer, "must be a list of schemas")
    if items is False and not prefix:
        raise UnsupportedSchemaError("items", site.pointer, "false leaves only the empty array; say so with maxItems: 0")
    return Listing(_sites(unfolding, site, "prefixItems", prefix), document.child(site, items, "items"))


def _sites(unfolding: Unfolding, site: Site, keyword: str, values: list[Any]) -> tuple[Site, ...]:
    return tuple(unfolding.document.child(site, value, keyword, index) for index, value in enumerate(values))


def _narrow_items(unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    if site.value.keys().isdisjoint(("items", "prefixItems")):
        return [case]  # additionalItems alone says nothing
    return [case.implying("array").but(listings=(*case.listings, listing(unfolding, site)))]


def _oppose_items(unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    if site.value.keys().isdisjoint(("items", "prefixItems")):
        return
    found = listing(unfolding, site)
    case = case.only("array")
    for index, each in enumerate(found.prefix):
        yield _longer(case, index + 1).but(at=(*case.at, (index, Signed(each, positive=False))))
    if found.rest is not None and found.rest.value is not True:
        if found.prefix:
            if found.rest.value is not False:
                raise no_opposite("items", site)
            yield _longer(case, len(found.prefix) + 1)
        else:
            violated = Containment((Signed(found.rest, positive=False),))
            yield case.but(containments=(*case.containments, (violated, site)))


def _longer(case: Case, minimum: int) -> Case:
    return case.but(min_items=max(case.min_items, minimum))


def _shorter(case: Case, maximum: int) -> Case:
    return case.but(max_items=maximum if case.max_items is None else min(case.max_items, maximum))


def _oppose_min(_unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    minimum = count(site, "minItems")
    return [_shorter(case.only("array"), minimum - 1)] if minimum else []


def _unique(site: Site) -> bool:
    value = site.value["uniqueItems"]
    if not isinstance(value, bool):
        raise InvalidSchemaError("uniqueItems", site.pointer, "must be a boolean")
    return value


def _narrow_unique(_unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    return [case.implying("array").but(unique=case.unique or site) if _unique(site) else case]


def _oppose_unique(_unfolding: Unfolding, _case: Case, site: Site) -> Iterable[Case]:
    if _unique(site):
        raise no_opposite("uniqueItems", site)
    return []


def _containment(unfolding: Unfolding, site: Site) -> Containment | None:
    if "contains" not in site.value:
        return None
    wanted = unfolding.document.child(site, site.value["contains"], "contains")
    minimum = count(site, "minContains") if "minContains" in site.value else 1
    maximum = count(site, "maxContains") if "maxContains" in site.value else None
    return Containment(conjunction([Signed(wanted)]), minimum, maximum)


def _narrow_contains(unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    found = _containment(unfolding, site)
    if found is None or (found.minimum == 0 and found.maximum is None):
        return [case]
    if found.maximum is not None and found.maximum < found.minimum:
        return [case.only(*(case.types - {"array"}))]
    return [case.implying("array").but(containments=(*case.containments, (found, site)))]


def _oppose_contains(unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    found = _containment(unfolding, site)
    if found is None:
        return
    case = case.only("array")
    if found.minimum:
        yield case.but(containments=(*case.containments, (Containment(found.wanted, 0, found.minimum - 1), site)))
    if found.maximum is not None:
        yield case.but(containments=(*case.containments, (Containment(found.wanted, found.maximum + 1), site)))


ASPECTS = (
    Aspect(("prefixItems", "items", "additionalItems"), _narrow_items, _oppose_items),
    Aspect(("minItems",), lambda _, case, site: [_longer(case, count(site, "minItems")).implying("array")], _oppose_min),
    Aspect(
        ("maxItems",),
        lambda _, case, site: [_shorter(case, count(site, "maxItems")).implying("array")],
        lambda _, case, site: [_longer(case.only("array"), count(site, "maxItems") + 1)],
    ),
    Aspect(("uniqueItems",), _narrow_unique, _oppose_unique),
    Aspect(("contains", "minContains", "maxContains"), _narrow_contains, _oppose_contains),
)
