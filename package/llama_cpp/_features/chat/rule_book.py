"""The rules of a grammar while it is put together from parts whose rule names know nothing of each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from llama_cpp._features.grammar.printing import print_grammar
from llama_cpp._features.grammar.tree import (
    NOTHING,
    Characters,
    Choice,
    Grammar,
    Literal,
    Node,
    Reference,
    Repetition,
    Sequence,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

SchemaCompiler = Callable[[Mapping[str, Any]], Grammar]
SPACE = Repetition(Characters(((0x09, 0x0A), (0x20, 0x20))), 0, 4)

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9]+")


class RuleBook:
    """Collects rules. `compile_schema` turns a JSON Schema into a grammar for JSON text."""

    def __init__(self, compile_schema: SchemaCompiler) -> None:
        self._compile = compile_schema
        self._rules: dict[str, Node] = {}
        self._untils: dict[str, Reference] = {}
        self._numbers: dict[str, int] = {}

    def text(self, root: Node) -> str:
        """The grammar of all rules, beginning with `root`."""
        return print_grammar(Grammar({"root": root, **self._rules}))

    def rule(self, hint: str, node: Node) -> Reference:
        """A new rule."""
        name = self._name(hint)
        self._rules[name] = node
        return Reference(name)

    def schema(self, hint: str, schema: Mapping[str, Any]) -> Reference:
        """A rule for JSON text that a schema accepts."""
        prefix = self._name(hint)
        grammar = self._compile(schema)
        self._rules.update({f"{prefix}-{name}": _renamed(node, prefix) for name, node in grammar.rules.items()})
        return Reference(f"{prefix}-{grammar.root}")

    def until(self, end: str) -> Reference:
        """A rule for any text that ends with the first `end` in it."""
        if end not in self._untils:
            names = [self._name("until") for _ in end]
            for state, name in enumerate(names):
                self._rules[name] = _next_character(end, state, names)
            self._untils[end] = Reference(names[0])
        return self._untils[end]

    def _name(self, hint: str) -> str:
        stem = _NOT_IN_NAMES.sub("-", hint).strip("-").lower() or "rule"
        stem = stem if stem[0].isalpha() else f"r-{stem}"
        self._numbers[stem] = number = self._numbers.get(stem, 0) + 1
        return f"{stem}-{number}"


def _next_character(end: str, state: int, names: list[str]) -> Node:
    """How a search for `end` goes on, of which `state` characters are matched."""

    def follow(matched: int) -> Node:
        return NOTHING if matched == len(end) else Reference(names[matched])

    known = sorted(set(end))
    targets = {character: _matched(end, end[:state] + character) for character in known}
    options = [sequence(character, follow(matched)) for character, matched in targets.items() if matched]
    others = tuple((ord(character), ord(character)) for character, matched in targets.items() if matched)
    return Choice((*options, sequence(Characters(others, negated=True), follow(0))))


def _matched(end: str, text: str) -> int:
    """The length of the longest beginning of `end` that `text` ends with."""
    return next(size for size in range(min(len(end), len(text)), -1, -1) if text.endswith(end[:size]))


def _renamed(node: Node, prefix: str) -> Node:
    match node:
        case Reference(rule):
            return Reference(f"{prefix}-{rule}")
        case Sequence(items):
            return Sequence(tuple(_renamed(each, prefix) for each in items))
        case Choice(options):
            return Choice(tuple(_renamed(each, prefix) for each in options))
        case Repetition(item, minimum, maximum):
            return Repetition(_renamed(item, prefix), minimum, maximum)
    return node


def sequence(*parts: Node | str) -> Node:
    """Parts one after the other; texts are literals, empty ones nothing."""
    nodes = [Literal(part) if isinstance(part, str) else part for part in parts]
    nodes = [node for node in nodes if node != NOTHING]
    return nodes[0] if len(nodes) == 1 else Sequence(tuple(nodes))


def choice(options: Iterable[Node]) -> Node:
    """One of some."""
    nodes = tuple(dict.fromkeys(options))
    return nodes[0] if len(nodes) == 1 else Choice(nodes)


def separated(item: Node, separator: Node | str, *, more: bool) -> Node:
    """One, and more behind separators if there may be."""
    return sequence(item, Repetition(sequence(separator, item))) if more else item
