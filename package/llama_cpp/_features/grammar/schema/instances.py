"""Whether a JSON value satisfies a case: for the values that a schema itself names, in `enum` and `const`."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from . import automaton
from .cases import Case, Conjunction, Scope, Signed, conjunction, identity, type_of
from .document import Site
from .numerals import exact
from .regex.machine import RegexMachine
from .regex.syntax import Expression

Accepts = Callable[[Conjunction, Any], bool]


@lru_cache(maxsize=256)
def _automaton(expression: Expression) -> automaton.Automaton:
    return automaton.build([RegexMachine(expression)])


def matches(expression: Expression, text: str) -> bool:
    """Whether an expression for whole texts matches one."""
    return _automaton(expression).matches(text)


def admits(case: Case, value: Any, accepts: Accepts) -> bool:
    """Whether the value satisfies the case; `accepts` is asked about what lies inside it."""
    kind = type_of(value)
    same = identity(value)
    if kind not in case.types or any(identity(excluded.value) == same for excluded in case.excluded):
        return False
    if case.values is not None and all(identity(allowed) != same for allowed in case.values):
        return False
    if kind == "number":
        return case.numbers.allows(exact(value))
    if kind == "string":
        fits = case.min_length <= len(value) and (case.max_length is None or len(value) <= case.max_length)
        return fits and all(matches(expression, value) == positive for expression, positive in case.patterns)
    if kind == "array":
        return _array(case, value, accepts)
    return kind != "object" or _object(case, value, accepts)


def _array(case: Case, value: list[Any], accepts: Accepts) -> bool:
    if len(value) < case.min_items or (case.max_items is not None and len(value) > case.max_items):
        return False
    if case.unique and len({identity(item) for item in value}) < len(value):
        return False
    for containment, _ in case.containments:
        found = sum(accepts(containment.wanted, item) for item in value)
        if found < containment.minimum or (containment.maximum is not None and found > containment.maximum):
            return False
    return all(accepts(case.item(index), item) for index, item in enumerate(value))


def _object(case: Case, value: dict[str, Any], accepts: Accepts) -> bool:
    minimum, maximum = case.min_properties[0], case.max_properties
    if len(value) < minimum or (maximum is not None and len(value) > maximum):
        return False
    if not all(name in value for name in case.required) or not case.forbidden.isdisjoint(value):
        return False
    if case.names and not all(accepts(case.names, name) for name in value):
        return False
    if case.closed and not all(any(in_scope(scope, name) for scope in case.scopes) for name in value):
        return False
    return all(accepts(member(case, name), inner) for name, inner in value.items())


def member(case: Case, name: str) -> Conjunction:
    """What holds for the value of a property."""
    parts = [Signed(inner) for scope in case.scopes for inner in in_scope(scope, name)]
    return conjunction([*parts, *(signed for other, signed in case.extra if other == name)])


def in_scope(scope: Scope, name: str) -> list[Site]:
    """The schemas of one scope that apply to a property."""
    found = [scope.properties[name]] if name in scope.properties else []
    found += [inner for expression, inner in scope.patterns if matches(expression, name)]
    return found or ([scope.rest] if scope.rest is not None else [])
