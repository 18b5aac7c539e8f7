"""Strings of a case as nodes: by length alone, by one pattern alone, or as an automaton of everything together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llama_cpp._features.grammar.tree import NOTHING, Choice, Node, Reference, Repetition

from . import automaton, spelling
from .automaton import Machine
from .cases import Case
from .regex.grammar import expression_node
from .regex.machine import LengthMachine, OtherWords, RegexMachine
from .regex.syntax import lengths
from .rulebook import Rulebook

FREE = Reference("string")


def machines(case: Case) -> list[Machine]:
    """The conditions on the characters of a string."""
    found: list[Machine] = [RegexMachine(expression, negated=not positive) for expression, positive in case.patterns]
    if case.min_length or case.max_length is not None:
        found.append(LengthMachine(case.min_length, case.max_length))
    if words := excluded(case):
        found.append(OtherWords(words))
    return found


def excluded(case: Case) -> list[str]:
    """Strings that are not allowed."""
    return [each.value for each in case.excluded if isinstance(each.value, str)]


def string_node(case: Case, rules: Rulebook, *, raw: bool = False) -> Node:
    """The string. `raw` leaves quotes and escapes out where there is a pattern."""
    inner = _simple(case, raw=raw)
    raw = raw and bool(case.patterns)
    if inner is None:
        inner = rules.automaton(automaton.build(machines(case)), spelling.plain_character if raw else spelling.character)
    if inner == Choice(()):
        return inner
    if inner == Repetition(spelling.CHAR):
        return FREE
    return inner if raw else spelling.string(inner)


def _simple(case: Case, *, raw: bool) -> Node | None:
    if excluded(case):
        return None
    if case.max_length is not None and case.max_length < case.min_length:
        return Choice(())
    if not case.patterns:
        return NOTHING if case.max_length == 0 else Repetition(spelling.CHAR, case.min_length, case.max_length)
    if len(case.patterns) > 1 or not case.patterns[0][1]:
        return None
    expression = case.patterns[0][0]
    span = lengths(expression)
    if span is None or span[0] < case.min_length or (case.max_length is not None and (span[1] is None or span[1] > case.max_length)):
        return None
    return expression_node(expression, spelling.plain_character if raw else spelling.character)


def key_node(cases: Sequence[Case], more: Callable[[], list[Machine]], rules: Rulebook) -> Node:
    """Names of properties that satisfy one of the cases and further conditions."""
    options: list[Node] = []
    for case in cases:
        if case.values is not None:
            words = [value for value in case.values if isinstance(value, str)]
            made = automaton.build([*more(), _OneOf(words)])
        elif "string" not in case.types:
            continue
        elif not more() and not case.patterns:
            options.append(string_node(case, rules))
            continue
        else:
            made = automaton.build([*more(), *machines(case)])
        if not made.empty:
            options.append(spelling.string(rules.automaton(made, spelling.character)))
    return options[0] if len(options) == 1 else Choice(tuple(options))


class _OneOf(OtherWords):
    """Only these words."""

    def accepts(self, state: automaton.State) -> bool:
        return not super().accepts(state)
