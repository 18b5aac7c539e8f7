"""Rules as text under the names that programs import: those of JSON's types, of whitespace, and of the formats of strings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from llama_cpp._features.grammar import printing
from llama_cpp._features.grammar.simplification import simplify
from llama_cpp._features.grammar.tree import Node

from .formats import PATTERNS
from .primitives import WHITESPACE, references, rules
from .regex import anchoring, parser
from .regex.grammar import expression_node
from .spelling import character, string


class BuiltinRule(NamedTuple):
    """A rule as text, and the names of the rules that it needs."""

    content: str
    deps: list[str]


def _builtin(name: str, node: Node) -> BuiltinRule:
    first = next(printing.print_rule(name, simplify(node)))
    return BuiltinRule(first.partition(" ::= ")[2].rstrip("\n"), sorted(set(references(node))))


class _FormatRules(Mapping[str, BuiltinRule]):
    """The rule of each format, made when it is asked for."""

    def __init__(self) -> None:
        self._made: dict[str, BuiltinRule] = {}

    def __getitem__(self, name: str) -> BuiltinRule:
        if name not in self._made:
            inner = expression_node(anchoring.whole_text(parser.parse(PATTERNS[name])), character)
            if inner is None:
                raise KeyError(name)
            self._made[name] = _builtin(name, string(inner))
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(PATTERNS)

    def __len__(self) -> int:
        return len(PATTERNS)


SPACE_RULE = _builtin("space", WHITESPACE).content
PRIMITIVE_RULES = {name: _builtin(name, node) for name, node in rules().items() if name != "space"}
STRING_FORMAT_RULES: Mapping[str, BuiltinRule] = _FormatRules()
