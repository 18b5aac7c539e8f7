"""Unfolds conjunctions of schemas into cases, and proves that some have none."""

from __future__ import annotations

from typing import Any

from llama_cpp._features.errors import InvalidSchemaError, SchemaError, UnsupportedSchemaError

from . import instances
from .cases import Case, Conjunction, Scope, identity, key, type_of
from .document import Document, Site
from .keywords import anytype, listing, logic, mapping, numeric, textual
from .keywords.aspect import Aspect
from .regex import anchoring, parser
from .regex.syntax import Expression

MAX_CASES = 512
MAX_PATTERN = 10_000

ASPECTS: tuple[Aspect, ...] = (
    *anytype.ASPECTS,
    *numeric.ASPECTS,
    *textual.ASPECTS,
    *listing.ASPECTS,
    *mapping.ASPECTS,
    *logic.ASPECTS,
)
_BY_KEYWORD = {keyword: aspect for aspect in ASPECTS for keyword in aspect.keywords}
_ORDER = {aspect: number for number, aspect in enumerate(ASPECTS)}
UNEVALUATED = "unevaluatedProperties"


class Unfolder:
    """Works on one document. `dotall` lets `.` in patterns match ends of lines."""

    def __init__(self, document: Document, *, dotall: bool = False) -> None:
        self.document = document
        self._dotall = dotall
        self._active: list[tuple[int, bool]] = []
        self._unfolded: dict[tuple[tuple[int, bool], ...], list[Case]] = {}
        self._proven: dict[tuple[tuple[int, bool], ...], bool] = {}
        self._expressions: dict[str, Expression] = {}
        self._top: Site | None = None

    def unfold(self, parts: Conjunction) -> list[Case]:
        """The cases of a conjunction; types that are only implied, and values that are named, are settled."""
        return [self._settled(case) for case in self._cases(parts)]

    def _cases(self, parts: Conjunction) -> list[Case]:
        """The cases as the specification has them."""
        known = key(parts)
        if known not in self._unfolded:
            active, top = self._active, self._top
            self._active = []
            self._top = parts[0].site if len(parts) == 1 and parts[0].positive else None
            try:
                cases = [Case()]
                for site, positive in parts:
                    cases = [after for case in cases for after in self.apply(case, site, positive=positive)]
            finally:
                self._active, self._top = active, top
            self._unfolded[known] = cases
        return self._unfolded[known]

    def apply(self, case: Case, site: Site, *, positive: bool) -> list[Case]:
        """The case with a schema, or its opposite, added."""
        schema = site.value
        if isinstance(schema, bool):
            return [case] if schema == positive else []
        mark = (id(site), positive)
        if mark in self._active:
            raise InvalidSchemaError("$ref", site.pointer, "the schema refers to itself without end")
        self._active.append(mark)
        try:
            cases = self._narrowed(case, site) if positive else self._opposed(case, site)
        finally:
            self._active.pop()
        if len(cases) > MAX_CASES:
            raise UnsupportedSchemaError(_largest(schema), site.pointer, f"it unfolds into more than {MAX_CASES} cases")
        return cases

    def _narrowed(self, case: Case, site: Site) -> list[Case]:
        cases = [case]
        for aspect in self._aspects(site):
            cases = [after for each in cases for after in aspect.narrow(self, each, site)]
            if len(cases) > MAX_CASES:
                raise UnsupportedSchemaError(aspect.keywords[0], site.pointer, f"it unfolds into more than {MAX_CASES} cases")
        return self._unevaluated(cases, site) if UNEVALUATED in site.value else cases

    def _opposed(self, case: Case, site: Site) -> list[Case]:
        if UNEVALUATED in site.value:
            raise UnsupportedSchemaError(UNEVALUATED, site.pointer, "its opposite cannot be expressed")
        return [after for aspect in self._aspects(site) for after in aspect.oppose(self, case, site)]

    def _aspects(self, site: Site) -> list[Aspect]:
        schema = site.value
        if self.document.legacy and "$ref" in schema:
            return [_BY_KEYWORD["$ref"]]
        return sorted({_BY_KEYWORD[keyword] for keyword in schema if keyword in _BY_KEYWORD}, key=_ORDER.__getitem__)

    def _unevaluated(self, cases: list[Case], site: Site) -> list[Case]:
        """False closes what is declared here and by everything that is applied here; it has to be the outermost schema for that."""
        value = site.value[UNEVALUATED]
        if value is True:
            return [case.but(scopes=(*case.scopes, Scope({}, (), self.document.child(site, value, UNEVALUATED)))) for case in cases]
        if value is not False or site is not self._top:
            raise UnsupportedSchemaError(UNEVALUATED, site.pointer, "only false is supported, in a schema that is not combined with others")
        return [case.but(closed=True).implying("object") for case in cases]

    def expression(self, pattern: str, site: Site, keyword: str) -> Expression:
        """A pattern as an expression for whole texts."""
        if pattern not in self._expressions:
            if len(pattern) > MAX_PATTERN:
                raise UnsupportedSchemaError(keyword, site.pointer, f"a pattern has at most {MAX_PATTERN} characters")
            try:
                self._expressions[pattern] = anchoring.whole_text(parser.parse(pattern, dotall=self._dotall and keyword != "format"))
            except parser.RegexError as error:
                raise UnsupportedSchemaError(keyword, site.pointer, str(error)) from error
        return self._expressions[pattern]

    def accepts(self, parts: Conjunction, value: Any) -> bool:
        """Whether a value satisfies all of it."""
        return any(instances.admits(case, value, self.accepts) for case in self._cases(parts))

    def _settled(self, case: Case) -> Case:
        if case.values is not None:
            left = {identity(value): value for value in case.values if instances.admits(case, value, self.accepts)}
            return case.but(values=tuple(left.values()), types=frozenset(type_of(value) for value in left.values()))
        return case.but(types=case.meant, typed=True)

    def contradictory(self, parts: Conjunction) -> bool:
        """Whether it is proven that no value satisfies all of it."""
        known = key(parts)
        if known not in self._proven:
            self._proven[known] = False  # while it is looked at: a schema within itself proves nothing
            self._proven[known] = all(self._impossible(case) for case in self._cases(parts))
        return self._proven[known]

    def _impossible(self, case: Case) -> bool:
        if case.values is not None:
            return not any(instances.admits(case, value, self.accepts) for value in case.values)
        types = set(case.types)
        if case.numbers.empty:
            types.discard("number")
        if case.max_length is not None and case.max_length < case.min_length:
            types.discard("string")
        if "array" in types and self._no_array(case):
            types.discard("array")
        if "object" in types and self._no_object(case):
            types.discard("object")
        return not types

    def _no_array(self, case: Case) -> bool:
        if case.max_items is not None and case.max_items < case.min_items:
            return True
        places = range(min(case.min_items, case.positions + 1))
        return any(self._never(case.item(index)) for index in places)

    def _no_object(self, case: Case) -> bool:
        if case.max_properties is not None and case.max_properties < max(case.min_properties[0], len(case.required)):
            return True
        if not case.forbidden.isdisjoint(case.required):
            return True
        return any(self._never(instances.member(case, name)) for name in case.required)

    def _never(self, parts: Conjunction) -> bool:
        try:
            return self.contradictory(parts)
        except SchemaError:
            return False


def _largest(schema: dict[str, object]) -> str:
    return next((keyword for keyword in ("anyOf", "oneOf", "allOf", "if", "not") if keyword in schema), "$ref")
