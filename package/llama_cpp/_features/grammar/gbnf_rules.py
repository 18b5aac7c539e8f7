"""Rules as llama.cpp makes them of GBNF text, reduced to what its checks look at, and those checks.

A rule is a list of alternatives, each a list of entries: the number of a rule, or `TERMINAL` for what takes a character or a
token. Groups and repetitions are rules of their own, as in llama.cpp. Beyond its checks those are made that it lacks: a rule that
comes back to itself behind something that may be empty makes its stacks grow without end, one that cannot begin fails an assertion,
and many paths through first rules cost it exponential time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn, TypeAlias

TERMINAL = -1
MAX_DEPTH = 4000
"""First rules of first rules: llama.cpp calls itself for each."""
MAX_PATHS = 50_000_000
"""Ways from rules to first rules of first rules: llama.cpp goes all of them."""

Alternates: TypeAlias = "list[list[int]]"
Fail: TypeAlias = "Callable[[int, str], NoReturn]"


class RuleTable:
    """Rules by number. `names` has the name that a rule was given, or that of the rule around a group or repetition."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._alternates: list[Alternates] = []
        self._copies: list[int] = []

    def add(self, name: str) -> int:
        """The number of a new rule, to be defined later."""
        self.names.append(name)
        self._alternates.append([])
        self._copies.append(1)
        return len(self.names) - 1

    def define(self, rule: int, alternates: Alternates) -> None:
        """Say what a rule is; the last definition counts."""
        self._alternates[rule] = alternates

    def add_repetition(self, name: str, item: list[int], count: int | None) -> int:
        """A rule for `item` up to `count` times, or any number of times for None.

        For each of `count` llama.cpp has a rule that leads to the next; here one stands for all but the last.
        """
        if count is None:
            rule = self.add(name)
            self.define(rule, [[*item, rule], []])
            return rule
        rule = self.add(name)
        self.define(rule, [item, []])
        if count > 1:
            last, rule = rule, self.add(name)
            self.define(rule, [[*item, last], []])
            self._copies[rule] = count - 1
        return rule

    def check(self, fail: Fail) -> None:
        """Call `fail` with a rule and what is wrong with it, which raises."""
        empty = self._empty()
        first = self._first(empty)
        groups = components(first)
        cycles = [group for group in groups if len(group) > 1 or group[0] in first[group[0]]]
        claimed = [not all(alternates) for alternates in self._alternates]  # what llama.cpp takes for empty
        known = self._first(claimed) if claimed != empty else first
        if cycles:
            self._check_known_cycles(known, fail)
            self._check_hidden_cycles(cycles, groups, first, empty, fail)
        self._check_cost(known, [rule for group in groups for rule in group] if not cycles else _ordered(known), claimed, fail)

    def _first(self, empty: Sequence[bool]) -> list[list[int]]:
        """The rules that may come first in each rule, as often as they may, given which rules may be empty."""
        first: list[list[int]] = []
        for alternates in self._alternates:
            found: list[int] = []
            for alternate in alternates:
                for entry in alternate:
                    if entry == TERMINAL:
                        break
                    found.append(entry)
                    if not empty[entry]:
                        break
            first.append(found)
        return first

    def _check_cost(self, first: list[list[int]], order: list[int], empty: Sequence[bool], fail: Fail) -> None:
        """Depth and number of the calls that llama.cpp's search for left recursion makes, `order` having callees first."""
        depth, paths = [0] * len(order), [0] * len(order)
        for rule in order:
            copies = self._copies[rule]
            depth[rule] = 1 + max((depth[each] for each in first[rule]), default=0)
            depth[rule] += copies if any(empty[each] for each in first[rule]) else 0
            paths[rule] = copies * (1 + sum(paths[each] for each in first[rule]))
            if depth[rule] > MAX_DEPTH:
                fail(rule, f"rule {self.names[rule]!r} begins with rules that begin with rules, more than {MAX_DEPTH} deep")
        if sum(paths) > MAX_PATHS:
            self._check_paths(first, paths, fail)

    def _check_paths(self, first: list[list[int]], paths: list[int], fail: Fail) -> None:
        """The same search begins at each rule that it has not come by."""
        seen = [False] * len(first)
        total = 0
        for rule, number in enumerate(paths):
            if seen[rule]:
                continue
            total += number
            if total > MAX_PATHS:
                fail(
                    rule, f"there are more than {MAX_PATHS} ways from rules to first rules of first rules; give common beginnings one rule"
                )
            todo = [rule]
            while todo:
                at = todo.pop()
                if not seen[at]:
                    seen[at] = True
                    todo += first[at]

    def _check_known_cycles(self, first: list[list[int]], fail: Fail) -> None:
        """Left recursion that llama.cpp sees."""
        for group in components(first):
            if len(group) > 1 or group[0] in first[group[0]]:
                self._fail_cycle(group, first, fail)

    def _check_hidden_cycles(
        self, cycles: list[list[int]], groups: list[list[int]], first: list[list[int]], empty: Sequence[bool], fail: Fail
    ) -> None:
        """What llama.cpp accepts and then fails at: it takes for empty only rules with an empty alternative."""
        for group in cycles:
            within = set(group)
            if any(self._grows(self._alternates[rule], within, empty) for rule in group):
                self._fail_cycle(group, first, fail, "left recursion behind what may be empty")
        begins = [any(self._reaches(alternate, empty) for alternate in alternates) for alternates in self._alternates]
        for group in groups:
            if any(begins[rule] or any(begins[each] for each in first[rule]) for rule in group):
                for rule in group:
                    begins[rule] = True
            elif not all(empty[rule] for rule in group):
                fail(group[0], f"rule {self.names[group[0]]!r} leads back to itself before anything, and can never begin")

    def _reaches(self, alternate: list[int], empty: Sequence[bool]) -> bool:
        """Whether a character or token of the alternative itself may come first."""
        entry = next((each for each in alternate if each == TERMINAL or not empty[each]), 0)
        return entry == TERMINAL

    def _grows(self, alternates: Alternates, within: set[int], empty: Sequence[bool]) -> bool:
        """Whether something waits behind a first rule of the same cycle."""
        for alternate in alternates:
            for place, entry in enumerate(alternate):
                if entry == TERMINAL:
                    break
                if entry in within and place + 1 < len(alternate):
                    return True
                if not empty[entry]:
                    break
        return False

    def _empty(self) -> list[bool]:
        """Which rules may match the empty text."""
        empty = [False] * len(self._alternates)
        waiting: dict[int, list[tuple[int, list[int]]]] = {}
        todo: list[tuple[int, list[int]]] = [
            (rule, alternate) for rule, alternates in enumerate(self._alternates) for alternate in alternates if TERMINAL not in alternate
        ]
        while todo:
            rule, alternate = todo.pop()
            if empty[rule]:
                continue
            missing = next((entry for entry in alternate if not empty[entry]), None)
            if missing is not None:
                waiting.setdefault(missing, []).append((rule, alternate))
                continue
            empty[rule] = True
            todo += waiting.pop(rule, ())
        return empty

    def _fail_cycle(self, group: list[int], first: list[list[int]], fail: Fail, what: str = "left recursion") -> NoReturn:
        """Name a way from a rule of the group back to it."""
        within = set(group)
        path, at = [], group[-1]
        while at not in path:
            path.append(at)
            at = next(each for each in first[at] if each in within)
        path = path[path.index(at) :]
        begin = path.index(min(path))
        path = path[begin:] + path[:begin]
        at = path[0]
        names = [self.names[each] for each in (*path, at)]
        names = [name for place, name in enumerate(names) if not place or names[place - 1] != name]
        if len(names) == 1:
            if len(path) == 1 and path[0] == self.names.index(names[0]):
                fail(at, f"{what}: rule {names[0]!r} begins with itself")
            fail(at, f"{what} in rule {names[0]!r}: it begins with itself, or repeats what may be empty")
        fail(at, f"{what}: {' → '.join(names)}")


def _ordered(edges: Sequence[Sequence[int]]) -> list[int]:
    return [node for group in components(edges) for node in group]


def components(edges: Sequence[Sequence[int]]) -> list[list[int]]:
    """Strongly connected components of a graph, those that edges lead to first (Tarjan's algorithm, without recursion)."""
    count = len(edges)
    number, low = [0] * count, [0] * count  # 0: not met yet
    on_stack = [False] * count
    stack: list[int] = []
    made: list[list[int]] = []
    met = 0
    for start in range(count):
        if number[start]:
            continue
        path = [(start, iter(edges[start]))]
        met += 1
        number[start] = low[start] = met
        stack.append(start)
        on_stack[start] = True
        while path:
            node, rest = path[-1]
            for each in rest:
                if not number[each]:
                    met += 1
                    number[each] = low[each] = met
                    stack.append(each)
                    on_stack[each] = True
                    path.append((each, iter(edges[each])))
                    break
                if on_stack[each]:
                    low[node] = min(low[node], number[each])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == number[node]:
                    cut = stack.index(node) if stack[-1] != node else len(stack) - 1
                    group = stack[cut:]
                    del stack[cut:]
                    for each in group:
                        on_stack[each] = False
                    made.append(group)
    return made
