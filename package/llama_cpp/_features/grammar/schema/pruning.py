"""Cuts out of a grammar what can never be completed, and finds rules that lead to themselves without reading anything."""

from __future__ import annotations

from collections.abc import Mapping

from llama_cpp._features.grammar.tree import NOTHING, Characters, Choice, Node, Reference, Repetition, Sequence

from .members import Members

_DEAD = Choice(())


def prune(rules: Mapping[str, Node | Members]) -> dict[str, Node | Members]:
    """The rules that can be completed, each without the alternatives that cannot."""
    alive: set[str] = set()
    waiting = list(rules)
    while True:
        # Rules are written before those that they mention: backwards, one round is nearly always enough.
        rest: list[str] = []
        for name in reversed(waiting):
            if _productive(rules[name], alive, rules):
                alive.add(name)
            else:
                rest.append(name)
        if len(rest) == len(waiting):
            break
        waiting = rest[::-1]
    if not waiting and not any(_mentions_dead(node) for node in rules.values()):
        return dict(rules)
    return {name: _cut(rules[name], alive, rules) for name in rules if name in alive}


def _mentions_dead(node: Node | Members) -> bool:
    if isinstance(node, Members):
        return any(type(value) is not Reference and _mentions_dead(value) for _, value, _ in node.members) or any(
            _mentions_dead(key) or _mentions_dead(value) for key, value in node.further
        )
    if isinstance(node, Choice):
        return not node.options or any(_mentions_dead(option) for option in node.options)
    if isinstance(node, Sequence):
        return any(_mentions_dead(item) for item in node.items)
    if isinstance(node, Repetition):
        return _mentions_dead(node.item)
    return isinstance(node, Characters) and not node.ranges and not node.negated


def _productive(node: Node | Members, alive: set[str], rules: Mapping[str, Node | Members]) -> bool:
    if isinstance(node, Reference):
        return node.rule in alive or node.rule not in rules
    if isinstance(node, Members):
        return all(not required or _productive(value, alive, rules) for _, value, required in node.members)
    if isinstance(node, Choice):
        return any(_productive(option, alive, rules) for option in node.options)
    if isinstance(node, Sequence):
        return all(_productive(item, alive, rules) for item in node.items)
    if isinstance(node, Repetition):
        return node.minimum == 0 or _productive(node.item, alive, rules)
    return not (isinstance(node, Characters) and not node.ranges and not node.negated)


def _cut(node: Node | Members, alive: set[str], rules: Mapping[str, Node | Members]) -> Node | Members:
    """A productive node without what is not."""
    if isinstance(node, Members):
        members = tuple((name, _inner(value, alive, rules), required) for name, value, required in node.members)
        kept = tuple(each for each in members if each[1] != _DEAD)
        further = tuple((key, _inner(value, alive, rules)) for key, value in node.further)
        return Members(kept, tuple(pair for pair in further if pair[1] != _DEAD), node.compact)
    return _inner(node, alive, rules)


def _inner(node: Node, alive: set[str], rules: Mapping[str, Node | Members]) -> Node:
    if not _productive(node, alive, rules):
        return _DEAD
    if isinstance(node, Choice):
        options = [each for option in node.options if (each := _inner(option, alive, rules)) != _DEAD]
        return options[0] if len(options) == 1 else Choice(tuple(options))
    if isinstance(node, Sequence):
        return Sequence(tuple(_inner(item, alive, rules) for item in node.items))
    if isinstance(node, Repetition):
        item = _inner(node.item, alive, rules)
        return NOTHING if item == _DEAD else Repetition(item, node.minimum, node.maximum)
    return node


def circle(rules: Mapping[str, Node | Members]) -> str | None:
    """A rule that leads to itself through alternatives that are nothing but references; None where there is none."""
    heads = {name: found for name, node in rules.items() if (found := _heads(node))}
    done: set[str] = set()
    for start, first in heads.items():
        stack = [(start, iter(first))]
        active = {start}
        while stack:
            name, following = stack[-1]
            step = next((each for each in following if each in heads and each not in done), None)
            if step is None:
                stack.pop()
                active.discard(name)
                done.add(name)
            elif step in active:
                return step
            else:
                active.add(step)
                stack.append((step, iter(heads[step])))
    return None


def _heads(node: Node | Members) -> list[str]:
    if isinstance(node, Reference):
        return [node.rule]
    if isinstance(node, Choice):
        return [name for option in node.options for name in _heads(option)]
    return _heads(node.items[0]) if isinstance(node, Sequence) and len(node.items) == 1 else []
