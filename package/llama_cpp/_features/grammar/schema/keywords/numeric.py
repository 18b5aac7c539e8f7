"""Keywords for numbers. Alone they leave the type open: values of other types satisfy them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from llama_cpp._features.errors import InvalidSchemaError
from llama_cpp._features.grammar.schema.cases import Case
from llama_cpp._features.grammar.schema.document import Site
from llama_cpp._features.grammar.schema.numerals import Bound, exact, tighter_high, tighter_low

from .aspect import Aspect, Unfolding, number


def _bounds(site: Site, inclusive: str, exclusive: str) -> list[Bound]:
    """Draft 4 spells an exclusive bound as a boolean beside the inclusive one."""
    flag = site.value.get(exclusive)
    found = []
    if inclusive in site.value:
        found.append(Bound(exact(number(site, inclusive)), flag is not True))
    if exclusive in site.value and not isinstance(flag, bool):
        found.append(Bound(exact(number(site, exclusive)), included=False))
    return found


def _with_low(case: Case, bound: Bound) -> Case:
    return case.but(numbers=dataclasses.replace(case.numbers, low=tighter_low(case.numbers.low, bound)))


def _with_high(case: Case, bound: Bound) -> Case:
    return case.but(numbers=dataclasses.replace(case.numbers, high=tighter_high(case.numbers.high, bound)))


def _narrow_low(_unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    for bound in _bounds(site, "minimum", "exclusiveMinimum"):
        case = _with_low(case, bound)
    return [case]


def _narrow_high(_unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    for bound in _bounds(site, "maximum", "exclusiveMaximum"):
        case = _with_high(case, bound)
    return [case]


def _oppose_low(_unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    bounds = _bounds(site, "minimum", "exclusiveMinimum")
    return [_with_high(case.only("number"), Bound(bound.value, not bound.included)) for bound in bounds]


def _oppose_high(_unfolding: Unfolding, case: Case, site: Site) -> Iterable[Case]:
    bounds = _bounds(site, "maximum", "exclusiveMaximum")
    return [_with_low(case.only("number"), Bound(bound.value, not bound.included)) for bound in bounds]


def _divisor(_unfolding: Unfolding, case: Case, site: Site, *, positive: bool) -> Iterable[Case]:
    divisor = exact(number(site, "multipleOf"))
    if divisor <= 0:
        raise InvalidSchemaError("multipleOf", site.pointer, "must be greater than 0")
    numbers = case.numbers
    if positive:
        return [case.but(numbers=dataclasses.replace(numbers, divisors=tuple(dict.fromkeys((*numbers.divisors, divisor)))))]
    return [case.only("number").but(numbers=dataclasses.replace(numbers, not_divisors=(*numbers.not_divisors, divisor)))]


ASPECTS = (
    Aspect(("minimum", "exclusiveMinimum"), _narrow_low, _oppose_low),
    Aspect(("maximum", "exclusiveMaximum"), _narrow_high, _oppose_high),
    Aspect(
        ("multipleOf",),
        lambda unfolding, case, site: _divisor(unfolding, case, site, positive=True),
        lambda unfolding, case, site: _divisor(unfolding, case, site, positive=False),
    ),
)
