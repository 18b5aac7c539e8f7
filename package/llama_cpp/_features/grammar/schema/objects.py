"""Objects of a case as nodes: members in their order, further ones by their names, and how many there may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

from llama_cpp._features.errors import UnsupportedSchemaError
from llama_cpp._features.grammar.tree import Choice, Literal, Node, Reference, Sequence

from .automaton import Machine
from .cases import Case, Conjunction, Signed, conjunction
from .instances import member
from .members import Member, Members
from .regex.machine import OtherWords, RegexMachine
from .regex.syntax import Expression
from .rulebook import Rulebook
from .spelling import SPACE, text
from .strings import FREE as FREE_STRING
from .strings import key_node
from .unfolding import Unfolder

MAX_PATTERNS = 5
MAX_COUNTED = 20_000
FREE = Reference("object")

Refer = Callable[[Conjunction, str], Node]


class ObjectWriter:
    """Writes the object of one case. `order` ranks names that come before the others, `open_objects` lets undeclared names in."""

    def __init__(
        self, case: Case, rules: Rulebook, refer: Refer, unfolder: Unfolder, *, order: Mapping[str, int], compact: bool, open_objects: bool
    ) -> None:
        self._case = case
        self._rules = rules
        self._refer = refer
        self._unfolder = unfolder
        self._compact = compact
        self._order = order
        self._open = open_objects

    def node(self) -> Node | Members:
        """The whole object."""
        case = self._case
        if not case.forbidden.isdisjoint(case.required):
            return Choice(())
        names = [name for name in case.declared if name not in case.forbidden]
        if case.names:
            barred = [name for name in names if not self._unfolder.accepts(case.names, name)]
            if not set(barred).isdisjoint(case.required):
                return Choice(())
            names = [name for name in names if name not in barred]
        if self._closed:
            declared = {name for name in names if self._declares(name)}
            if not declared.issuperset(case.required):
                return Choice(())
            names = [name for name in names if name in declared]
        names.sort(key=lambda name: self._order.get(name, len(self._order)))
        required = set(case.required)
        members = tuple((name, self._refer(member(case, name), name), name in required) for name in names)
        further = self._further()
        if not members and further == ((FREE_STRING, Reference(self._any)),) and self._unlimited(len(required)):
            return FREE
        if self._unlimited(len(required)) or (
            not further and case.min_properties[0] <= len(required) and (case.max_properties or 0) >= len(members)
        ):
            return Members(members, further, self._compact)
        return self._counted(members, further)

    @property
    def _any(self) -> str:
        reference = self._refer((), "")
        return reference.rule if isinstance(reference, Reference) else ""

    def _unlimited(self, required: int) -> bool:
        return self._case.max_properties is None and self._case.min_properties[0] <= required

    @property
    def _closed(self) -> bool:
        """Whether names that nothing declares are left out."""
        scopes = self._case.scopes
        if any(scope.rest is not None for scope in scopes):
            return False
        return self._case.closed or (not self._open and any(scope.properties or scope.patterns for scope in scopes))

    def _declares(self, name: str) -> bool:
        """Whether a schema speaks of the name: in `properties`, by a pattern, or as required."""
        case = self._case
        if name in case.required and not case.closed:
            return True
        return any(name in scope.properties for scope in case.scopes) or bool(member(case, name))

    def _further(self) -> tuple[tuple[Node, Node], ...]:
        """Kinds of members beside the declared ones: which patterns a name matches decides what its value has to be."""
        case = self._case
        patterns = list(dict.fromkeys(expression for scope in case.scopes for expression, _ in scope.patterns))
        if len(patterns) > MAX_PATTERNS:
            site = next(site for scope in case.scopes for _, site in scope.patterns)
            raise UnsupportedSchemaError("patternProperties", site.pointer, f"at most {MAX_PATTERNS} patterns are supported")
        known = [*case.declared, *sorted(case.forbidden.difference(case.declared))]
        found: list[tuple[Node, Node]] = []
        for hits in product((True, False), repeat=len(patterns)):
            matched = {pattern for pattern, hit in zip(patterns, hits, strict=True) if hit}
            if not matched and self._closed:
                continue
            parts: list[Signed] = []
            for scope in case.scopes:
                inner = [Signed(site) for expression, site in scope.patterns if expression in matched]
                parts += inner or ([Signed(scope.rest)] if scope.rest is not None else [])
            value = conjunction(parts)
            if any(part.site.value is False and part.positive for part in value):
                continue
            conditions = [(pattern, pattern not in matched) for pattern in patterns]
            key = self._keys(known, conditions)
            if key != Choice(()):
                found.append((key, self._refer(value, "value")))
        return tuple(found)

    def _keys(self, known: list[str], conditions: list[tuple[Expression, bool]]) -> Node:
        """Names that are none of those known, and match or don't match the patterns."""
        if not known and not conditions and not self._case.names:
            return FREE_STRING

        def machines() -> list[Machine]:
            made: list[Machine] = [RegexMachine(pattern, negated=negated) for pattern, negated in conditions]
            return [*made, OtherWords(known)] if known else made

        return key_node(self._unfolder.unfold(self._case.names), machines, self._rules)

    def _counted(self, members: tuple[Member, ...], further: tuple[tuple[Node, Node], ...]) -> Node:
        """States are (members passed, members written), as far as the number matters."""
        case = self._case
        (minimum, site), maximum = case.min_properties, case.max_properties
        required = sum(needed for _, _, needed in members)
        if further and minimum > required + 1 and site is not None:
            # A name may be written twice; only one further name is certain to be another one.
            raise UnsupportedSchemaError(
                "minProperties", site.pointer, "it cannot be counted where the names of further properties are open"
            )
        most = max(minimum, maximum or 0)
        if (len(members) + 1) * (most + 1) > MAX_COUNTED:
            raise UnsupportedSchemaError(
                "maxProperties" if maximum else "minProperties", "#", f"counting makes more than {MAX_COUNTED} rules"
            )
        space: tuple[Node, ...] = () if self._compact else (SPACE,)
        states: dict[tuple[int, int], Reference] = {}
        waiting: list[tuple[int, int]] = []

        def after(passed: int, written: int) -> Reference:
            state = (passed, min(written, max(most, 1)))
            if state not in states:
                states[state] = Reference(self._rules.below("n"))
                waiting.append(state)
            return states[state]

        pairs = [Sequence((Literal(f"{text(name)}:"), *space, value)) for name, value, _ in members]
        others = [Sequence((key, Literal(":"), *space, value)) for key, value in further]
        shared = [self._rules.shared("p", pair) for pair in pairs]
        open_ended = [self._rules.shared("p", pair) for pair in others]
        first = after(0, 0)
        while waiting:
            passed, written = state = waiting.pop()
            comma = (Literal(","), *space) if written else ()
            options: list[Node] = []
            room = maximum is None or written < maximum
            if passed < len(members):
                if room:
                    options.append(Sequence((*comma, shared[passed], after(passed + 1, written + 1))))
                if not members[passed][2]:
                    options.append(after(passed + 1, written))
            else:
                if room:
                    options += [Sequence((*comma, each, after(passed, written + 1))) for each in open_ended]
                if written >= minimum:
                    options.append(Sequence((*(space if written else ()), Literal("}"))))
            self._rules.put(states[state].rule, Choice(tuple(options)))
        return Sequence((Literal("{"), *space, first))
