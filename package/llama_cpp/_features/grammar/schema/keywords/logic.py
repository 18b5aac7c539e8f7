"""Keywords that combine schemas, and references."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llama_cpp._features.errors import SchemaError, UnsupportedSchemaError
from llama_cpp._features.grammar.schema.cases import Case, Signed, conjunction, identity
from llama_cpp._features.grammar.schema.document import Site

from .aspect import Aspect, Unfolding, schemas, unsupported

MAX_STEPS = 100


def _each(unfolding: Unfolding, cases: Iterable[Case], site: Site, *, positive: bool) -> list[Case]:
    return [after for case in cases for after in unfolding.apply(case, site, positive=positive)]


def _all(unfolding: Unfolding, case: Case, sites: Iterable[Site], *, positive: bool) -> list[Case]:
    """Every one of the schemas, or every one negated."""
    cases = [case]
    for site in sites:
        cases = _each(unfolding, cases, site, positive=positive)
    return cases


def _any(unfolding: Unfolding, case: Case, sites: Iterable[Site], *, positive: bool) -> list[Case]:
    return [after for site in sites for after in unfolding.apply(case, site, positive=positive)]


def disjoint(unfolding: Unfolding, left: Site, right: Site) -> bool:
    """Whether it is proven that no value satisfies both."""
    try:
        return unfolding.contradictory(conjunction([Signed(left), Signed(right)]))
    except SchemaError:
        return False


def exclusive(unfolding: Unfolding, options: list[Site]) -> bool:
    """Whether the alternatives are told apart by a type, or by the constant value of a property that all of them require."""
    found = [_followed(unfolding, option) for option in options]
    kinds = {schema.get("type") if isinstance(schema.get("type"), str) else None for schema in found}
    if None not in kinds and len(kinds) == len(found) and not {"integer", "number"} <= kinds:
        return True
    if kinds != {"object"}:
        return False
    return any(_discriminates(name, found) for name in found[0].get("properties", {}))


def _followed(unfolding: Unfolding, site: Site) -> dict[str, Any]:
    for _ in range(MAX_STEPS):
        if not isinstance(site.value, dict):
            return {}
        if site.value.keys() != {"$ref"}:
            return site.value
        site = unfolding.document.resolve(site)
    return {}


def _discriminates(name: str, options: list[dict[str, Any]]) -> bool:
    seen: set[Any] = set()
    for schema in options:
        properties, required = schema.get("properties"), schema.get("required")
        inner = properties.get(name) if isinstance(properties, dict) else None
        if not isinstance(inner, dict) or not isinstance(required, list) or name not in required:
            return False
        values = [inner["const"]] if "const" in inner else inner.get("enum")
        if not isinstance(values, list):
            return False
        marks = {identity(value) for value in values}
        if not marks.isdisjoint(seen):
            return False
        seen |= marks
    return True


def _narrow_one(unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    options = schemas(unfolding, site, "oneOf")
    if exclusive(unfolding, options):
        return _any(unfolding, case, options, positive=True)
    return _one_by_one(unfolding, case, options)


def _one_by_one(unfolding: Unfolding, case: Case, options: list[Site]) -> Iterable[Case]:
    for option in options:
        cases = unfolding.apply(case, option, positive=True)
        for other in options:
            if other is option:
                continue
            if option.value is other.value or not disjoint(unfolding, option, other):
                cases = _each(unfolding, cases, other, positive=False)
        yield from cases


def _oppose_one(unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    options = schemas(unfolding, site, "oneOf")
    for number, option in enumerate(options):
        for other in options[number + 1 :]:
            if not disjoint(unfolding, option, other):
                yield from _all(unfolding, case, (option, other), positive=True)
    yield from _all(unfolding, case, options, positive=False)


def _not(unfolding: Unfolding, case: Case, site: Site, *, positive: bool) -> Iterable[Case]:
    inner = unfolding.document.child(site, site.value["not"], "not")
    return unfolding.apply(case, inner, positive=not positive)


def _branches(unfolding: Unfolding, site: Site) -> tuple[Site, Site | None, Site | None] | None:
    if "if" not in site.value:
        return None
    condition, *branches = (
        unfolding.document.child(site, site.value[keyword], keyword) if keyword in site.value else None
        for keyword in ("if", "then", "else")
    )
    assert condition is not None  # noqa: S101 - it is there
    return condition, branches[0], branches[1]


def _narrow_if(unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    found = _branches(unfolding, site)
    if found is None or (found[1] is None and found[2] is None):
        return [case]
    condition, then, otherwise = found
    met = unfolding.apply(case, condition, positive=True)
    unmet = unfolding.apply(case, condition, positive=False)
    return [
        *(_each(unfolding, met, then, positive=True) if then else met),
        *(_each(unfolding, unmet, otherwise, positive=True) if otherwise else unmet),
    ]


def _oppose_if(unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    found = _branches(unfolding, site)
    if found is None:
        return
    condition, then, otherwise = found
    if then:
        yield from _each(unfolding, unfolding.apply(case, condition, positive=True), then, positive=False)
    if otherwise:
        yield from _each(unfolding, unfolding.apply(case, condition, positive=False), otherwise, positive=False)


def _reference(unfolding: Unfolding, case: Case, site: Site, *, positive: bool) -> Iterable[Case]:
    return unfolding.apply(case, unfolding.document.resolve(site), positive=positive)


def _dynamic(unfolding: Unfolding, _case: Case, site: Site) -> Iterable[Case]:
    del unfolding
    raise UnsupportedSchemaError("$dynamicRef", site.pointer, "dynamic references are not supported; use $ref")


ASPECTS = (
    Aspect(
        ("$ref",),
        lambda unfolding, case, site: _reference(unfolding, case, site, positive=True),
        lambda unfolding, case, site: _reference(unfolding, case, site, positive=False),
    ),
    Aspect(("$dynamicRef",), _dynamic, _dynamic),
    unsupported("$recursiveRef"),
    Aspect(
        ("allOf",),
        lambda unfolding, case, site: _all(unfolding, case, schemas(unfolding, site, "allOf"), positive=True),
        lambda unfolding, case, site: _any(unfolding, case, schemas(unfolding, site, "allOf"), positive=False),
    ),
    Aspect(
        ("anyOf",),
        lambda unfolding, case, site: _any(unfolding, case, schemas(unfolding, site, "anyOf"), positive=True),
        lambda unfolding, case, site: _all(unfolding, case, schemas(unfolding, site, "anyOf"), positive=False),
    ),
    Aspect(("oneOf",), _narrow_one, _oppose_one),
    Aspect(
        ("not",),
        lambda unfolding, case, site: _not(unfolding, case, site, positive=True),
        lambda unfolding, case, site: _not(unfolding, case, site, positive=False),
    ),
    Aspect(("if", "then", "else"), _narrow_if, _oppose_if),
    unsupported("unevaluatedItems"),
)
