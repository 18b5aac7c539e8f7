"""Arrays of a case as nodes: places, lengths, what they have to contain."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

from llama_cpp._features.errors import UnsupportedSchemaError
from llama_cpp._features.grammar.tree import NOTHING, Choice, Literal, Node, Reference, Repetition, Sequence

from .cases import Case, Conjunction, Containment, Signed, conjunction, identity
from .document import Site
from .rulebook import Rulebook
from .spelling import SPACE, value_node
from .unfolding import Unfolder

MAX_COUNTED = 4_000
MAX_DISTINCT = 10
FREE = Reference("array")

Refer = Callable[[Conjunction, str], Node]


class ArrayWriter:
    """Writes the array of one case. `refer` gives the node of a conjunction."""

    def __init__(self, case: Case, rules: Rulebook, refer: Refer, unfolder: Unfolder, *, compact: bool) -> None:
        self._case = case
        self._rules = rules
        self._refer = refer
        self._unfolder = unfolder
        self._compact = compact
        self._space: tuple[Node, ...] = () if compact else (SPACE,)

    def node(self) -> Node:
        """The whole array."""
        case = self._case
        if case.max_items is not None and case.max_items < case.min_items:
            return Choice(())
        if case.unique and case.max_items not in (0, 1):
            return self._distinct(case.unique)
        if case.containments:
            return self._counted()
        if not case.positions and not case.min_items and case.max_items is None and not case.item(0):
            return FREE
        return self._plain()

    def _brackets(self, inner: Node) -> Node:
        """`inner` includes the whitespace behind the last item."""
        return Sequence((Literal("["), *self._space, inner, Literal("]")))

    def _plain(self) -> Node:
        """Items by place, then any number of the rest."""
        case = self._case
        if case.max_items == 0:
            return self._brackets(NOTHING)
        places = case.positions if case.max_items is None else min(case.positions, case.max_items)
        fixed = [self._refer(case.item(index), f"item-{index}") for index in range(places)]
        if not places:
            item = self._refer(case.item(0), "item")
            most = None if case.max_items is None else case.max_items - 1
            more = (Repetition(self._next(item), max(case.min_items - 1, 0), most),) if most != 0 else ()
            some = Sequence((item, *more, *self._space))
            return self._brackets(some if case.min_items else Repetition(some, 0, 1))
        tail: Node = NOTHING
        if case.max_items is None or case.max_items > places:
            rest = self._refer(case.item(places), "item")
            most = None if case.max_items is None else case.max_items - places
            tail = Repetition(self._next(rest), max(case.min_items - places, 0), most)
        for index in range(places - 1, 0, -1):
            if index < case.min_items:
                tail = Sequence((self._next(fixed[index]), *_items(tail)))
            else:
                tail = Repetition(self._rules.shared("i", Sequence((self._next(fixed[index]), *_items(tail)))), 0, 1)
        some = Sequence((fixed[0], *_items(tail), *self._space))
        return self._brackets(some if case.min_items else Repetition(some, 0, 1))

    def _next(self, item: Node) -> Node:
        return Sequence((Literal(","), *self._space, item))

    def _distinct(self, site: Site) -> Node:
        """Items that are all different: possible to say where there are few values that they can have."""
        case = self._case
        count = case.max_items if case.max_items is not None else MAX_DISTINCT + 1
        kinds = [self._finite(case.item(index), site) for index in range(case.positions + 1)]
        values = {identity(value): value for kind in kinds for value in kind}
        if len(values) > MAX_DISTINCT or case.containments:
            raise UnsupportedSchemaError(
                "uniqueItems", site.pointer, f"items can be kept different only where they are an enum of at most {MAX_DISTINCT}"
            )
        keys = list(values)
        allowed = [{identity(value) for value in kind} for kind in kinds]
        count = min(count, len(keys))
        nodes = [value_node(values[each], compact=self._compact) for each in keys]
        states: dict[int, Reference] = {}

        def after(used: int) -> Reference:
            """What may follow when the values of this bit set were used."""
            if used not in states:
                states[used] = Reference(self._rules.below("u"))
                waiting.append(used)
            return states[used]

        waiting: list[int] = []
        first = after(0)
        while waiting:
            used = waiting.pop()
            number = used.bit_count()
            options: list[Node] = []
            for bit, each in enumerate(keys):
                if number < count and not used >> bit & 1 and each in allowed[min(number, case.positions)]:
                    comma = (Literal(","), *self._space) if used else ()
                    options.append(Sequence((*comma, nodes[bit], after(used | 1 << bit))))
            if number >= case.min_items:
                options.append(Sequence(self._space) if used and self._space else NOTHING)
            self._rules.put(states[used].rule, Choice(tuple(options)))
        return self._brackets(first)

    def _finite(self, parts: Conjunction, site: Site) -> list[object]:
        found: list[object] = []
        for case in self._unfolder.unfold(parts):
            if case.values is not None:
                found.extend(case.values)
            elif case.types <= {"null", "boolean"}:
                named = [None] * ("null" in case.types) + [False, True] * ("boolean" in case.types)
                found.extend(value for value in named if self._unfolder.accepts(parts, value))
            elif case.types:
                raise UnsupportedSchemaError("uniqueItems", site.pointer, "items can be kept different only where they are an enum")
        return found

    def _counted(self) -> Node:
        """States are (items so far, found so far of each kind), as far as these numbers matter."""
        case = self._case
        wanted = [containment for containment, _ in case.containments]
        limits = [max(each.minimum, each.maximum or 0) for each in wanted]
        last = max(case.min_items, case.max_items or 0, case.positions)
        size = (last + 1) * math.prod(limit + 2 for limit in limits)
        if size > MAX_COUNTED:
            raise UnsupportedSchemaError(
                "contains", case.containments[0][1].pointer, f"it needs {size} rules; at most {MAX_COUNTED} are made"
            )
        kinds = list(product((True, False), repeat=len(wanted)))
        states: dict[tuple[int, ...], Reference] = {}
        waiting: list[tuple[int, ...]] = []

        def after(state: tuple[int, ...]) -> Reference:
            if state not in states:
                states[state] = Reference(self._rules.below("c"))
                waiting.append(state)
            return states[state]

        first = after((0,) * (len(wanted) + 1))
        while waiting:
            state = waiting.pop()
            options = [option for kind in kinds if (option := self._counting(state, kind, wanted, last, after)) is not None]
            if state[0] >= case.min_items and all(found >= each.minimum for found, each in zip(state[1:], wanted, strict=True)):
                options.append(Sequence(self._space) if any(state) and self._space else NOTHING)
            self._rules.put(states[state].rule, Choice(tuple(options)))
        return self._brackets(first)

    def _counting(
        self,
        state: tuple[int, ...],
        kind: tuple[bool, ...],
        wanted: list[Containment],
        last: int,
        after: Callable[[tuple[int, ...]], Reference],
    ) -> Node | None:
        """One more item that is, or is not, of each wanted kind. Where no maximum counts, what it is not is left open."""
        case, (count, *found) = self._case, state
        if case.max_items is not None and count >= case.max_items:
            return None
        parts: list[Signed] = list(case.item(min(count, case.positions)))
        following = [min(count + 1, max(last, 1))]
        for hit, each, so_far in zip(kind, wanted, found, strict=True):
            limit = max(each.minimum, each.maximum or 0)
            if not hit:
                if each.maximum is not None:
                    parts += self._negation(each, case)
                following.append(so_far)
                continue
            if each.maximum is None and so_far >= limit:
                return None  # enough were found: the other branch takes all items
            if each.maximum is not None and so_far >= each.maximum:
                return None
            parts += each.wanted
            following.append(so_far + 1)
        item = self._refer(conjunction(parts), "item")
        comma = (Literal(","), *self._space) if count else ()
        return Sequence((*comma, item, after(tuple(following))))

    def _negation(self, containment: Containment, case: Case) -> list[Signed]:
        if len(containment.wanted) != 1:
            raise UnsupportedSchemaError("maxContains", case.containments[0][1].pointer, "it cannot be combined with this contains")
        ((site, positive),) = containment.wanted
        return [Signed(site, not positive)]


def _items(node: Node) -> tuple[Node, ...]:
    return node.items if isinstance(node, Sequence) else () if node == NOTHING else (node,)
