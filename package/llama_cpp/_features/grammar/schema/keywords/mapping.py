"""Keywords for objects. A schema that names no type and has one of them means objects."""

from __future__ import annotations

from collections.abc import Iterable

from llama_cpp._features.errors import InvalidSchemaError
from llama_cpp._features.grammar.schema.cases import Case, Scope, Signed
from llama_cpp._features.grammar.schema.document import Site

from .aspect import Aspect, Unfolding, count, names, no_opposite, schema_map


def scope(unfolding: Unfolding, site: Site) -> Scope:
    """`properties`, `patternProperties` and `additionalProperties` of one schema."""
    patterns = tuple(
        (unfolding.expression(pattern, site, "patternProperties"), inner)
        for pattern, inner in schema_map(unfolding, site, "patternProperties").items()
    )
    rest = None
    if "additionalProperties" in site.value:
        rest = unfolding.document.child(site, site.value["additionalProperties"], "additionalProperties")
    return Scope(schema_map(unfolding, site, "properties"), patterns, rest)


def _narrow_scope(unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    return [case.implying("object").but(scopes=(*case.scopes, scope(unfolding, site)))]


def _oppose_scope(unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    found = scope(unfolding, site)
    if found.patterns:
        raise no_opposite("patternProperties", site)
    if found.rest is not None and found.rest.value not in (True, {}):
        raise no_opposite("additionalProperties", site)
    for name, inner in found.properties.items():
        if inner.value is not True:
            extra = (*case.extra, (name, Signed(inner, positive=False)))
            yield requiring(case.only("object"), [name]).but(extra=extra)


def requiring(case: Case, wanted: Iterable[str]) -> Case:
    """With these names required."""
    return case.but(required=tuple(dict.fromkeys((*case.required, *wanted))))


def without(case: Case, name: str) -> Case:
    """An object without this name."""
    return case.but(forbidden=case.forbidden | {name})


def _narrow_required(_unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    value = site.value["required"]
    if isinstance(value, bool):
        return [case]  # draft 3 and OpenAPI parameters: it speaks of the place, not of the value
    return [requiring(case, names(value, site, "required")).implying("object")]


def _oppose_required(_unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    value = site.value["required"]
    wanted = [] if isinstance(value, bool) else names(value, site, "required")
    return [without(case.only("object"), name) for name in wanted]


def _at_least(case: Case, minimum: int, site: Site) -> Case:
    return case if minimum <= case.min_properties[0] else case.but(min_properties=(minimum, site))


def _at_most(case: Case, maximum: int) -> Case:
    return case.but(max_properties=maximum if case.max_properties is None else min(case.max_properties, maximum))


def _oppose_min(_unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    minimum = count(site, "minProperties")
    return [_at_most(case.only("object"), minimum - 1)] if minimum else []


def _narrow_names(unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    inner = unfolding.document.child(site, site.value["propertyNames"], "propertyNames")
    return [case.implying("object").but(names=(*case.names, Signed(inner)))]


def _oppose_names(_unfolding: Unfolding, _case: Case, site: Site) -> Iterable[Case]:
    raise no_opposite("propertyNames", site)


def _dependencies(unfolding: Unfolding, site: Site) -> Iterable[tuple[str, list[str] | Site]]:
    """What each name brings with it: other names, or a schema. `dependencies` is the older spelling of both."""
    for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
        value = site.value.get(keyword, {})
        if not isinstance(value, dict):
            raise InvalidSchemaError(keyword, site.pointer, "must be an object")
        for name, wanted in value.items():
            if keyword == "dependentRequired" or (keyword == "dependencies" and isinstance(wanted, list)):
                yield name, names(wanted, site, keyword)
            else:
                yield name, unfolding.document.child(site, wanted, keyword, name)


def _narrow_dependencies(unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    cases = [case.implying("object")]
    for name, wanted in _dependencies(unfolding, site):
        absent = [without(each, name) for each in cases if name not in each.required]
        present = [requiring(each, [name]) for each in cases if name not in each.forbidden]
        if isinstance(wanted, list):
            present = [requiring(each, wanted) for each in present]
        else:
            present = [after for each in present for after in unfolding.apply(each, wanted, positive=True)]
        cases = [*present, *absent]
    return cases


def _oppose_dependencies(unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    case = case.only("object")
    for name, wanted in _dependencies(unfolding, site):
        present = requiring(case, [name])
        if isinstance(wanted, list):
            yield from (without(present, other) for other in wanted)
        else:
            yield from unfolding.apply(present, wanted, positive=False)


ASPECTS = (
    Aspect(("properties", "patternProperties", "additionalProperties"), _narrow_scope, _oppose_scope),
    Aspect(("required",), _narrow_required, _oppose_required),
    Aspect(("minProperties",), lambda _, case, site: [_at_least(case, count(site, "minProperties"), site).implying("object")], _oppose_min),
    Aspect(
        ("maxProperties",),
        lambda _, case, site: [_at_most(case, count(site, "maxProperties")).implying("object")],
        lambda _, case, site: [_at_least(case.only("object"), count(site, "maxProperties") + 1, site)],
    ),
    Aspect(("propertyNames",), _narrow_names, _oppose_names),
    Aspect(("dependentRequired", "dependentSchemas", "dependencies"), _narrow_dependencies, _oppose_dependencies),
)
