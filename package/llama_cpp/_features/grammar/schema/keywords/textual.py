"""Keywords for strings. A schema that names no type and has one of them means strings."""

from __future__ import annotations

from collections.abc import Iterable

from llama_cpp._features.errors import InvalidSchemaError, UnsupportedSchemaError
from llama_cpp._features.grammar.schema.cases import Case
from llama_cpp._features.grammar.schema.document import Site
from llama_cpp._features.grammar.schema.formats import ANNOTATIONS, PATTERNS

from .aspect import Aspect, Unfolding, count


def _longer(case: Case, minimum: int) -> Case:
    return case.but(min_length=max(case.min_length, minimum))


def _shorter(case: Case, maximum: int) -> Case:
    return case.but(max_length=maximum if case.max_length is None else min(case.max_length, maximum))


def _narrow_min(_unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    return [_longer(case, count(site, "minLength")).implying("string")]


def _oppose_min(_unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    minimum = count(site, "minLength")
    return [_shorter(case.only("string"), minimum - 1)] if minimum else []


def _narrow_max(_unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    return [_shorter(case, count(site, "maxLength")).implying("string")]


def _oppose_max(_unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    return [_longer(case.only("string"), count(site, "maxLength") + 1)]


def _pattern(unfolding: Unfolding, case: Case, site: Site, *, positive: bool) -> Iterable[Case]:
    pattern = site.value["pattern"]
    if not isinstance(pattern, str):
        raise InvalidSchemaError("pattern", site.pointer, "must be a string")
    expression = unfolding.expression(pattern, site, "pattern")
    case = case.implying("string") if positive else case.only("string")
    return [case.but(patterns=(*case.patterns, (expression, positive)))]


def _format(unfolding: Unfolding, case: Case, site: Site, *, positive: bool) -> Iterable[Case]:
    name = site.value["format"]
    if not isinstance(name, str):
        raise InvalidSchemaError("format", site.pointer, "must be a string")
    if name in ANNOTATIONS or "string" not in case.types:
        return [case] if positive else []
    if name not in PATTERNS:
        raise UnsupportedSchemaError("format", site.pointer, f"the format {name!r} cannot be expressed")
    if not positive:
        raise UnsupportedSchemaError("format", site.pointer, "the opposite of a format cannot be expressed")
    expression = unfolding.expression(PATTERNS[name], site, "format")
    return [case.implying("string").but(patterns=(*case.patterns, (expression, True)))]


ASPECTS = (
    Aspect(("minLength",), _narrow_min, _oppose_min),
    Aspect(("maxLength",), _narrow_max, _oppose_max),
    Aspect(
        ("pattern",),
        lambda unfolding, case, site: _pattern(unfolding, case, site, positive=True),
        lambda unfolding, case, site: _pattern(unfolding, case, site, positive=False),
    ),
    Aspect(
        ("format",),
        lambda unfolding, case, site: _format(unfolding, case, site, positive=True),
        lambda unfolding, case, site: _format(unfolding, case, site, positive=False),
    ),
)
