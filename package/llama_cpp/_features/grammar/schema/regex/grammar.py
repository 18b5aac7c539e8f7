"""A regular expression as nodes of a grammar, one for one, where nothing else constrains the text."""

from __future__ import annotations

from collections.abc import Callable

from llama_cpp._features.grammar.schema.codepoints import Ranges
from llama_cpp._features.grammar.tree import NOTHING, Choice, Literal, Node, Repetition, Sequence

from .syntax import Alternation, Class, Concatenation, Expression, Repeat, nullable

Spell = Callable[[Ranges], Node]


def expression_node(node: Expression, spell: Spell) -> Node | None:
    """The node; None for expressions that GBNF would call left-recursive: an endless repetition of what may be empty."""
    if isinstance(node, Class):
        return spell(node.characters) if node.characters else Choice(())
    if isinstance(node, Repeat):
        return _repetition(node, spell)
    parts = node.items if isinstance(node, Concatenation) else node.options if isinstance(node, Alternation) else None
    if parts is None:
        raise TypeError("anchors are taken out before")
    found = [expression_node(part, spell) for part in parts]
    whole = [part for part in found if part is not None]
    if len(whole) < len(found):
        return None
    return _choice(whole) if isinstance(node, Alternation) else _sequence(whole)


def _repetition(node: Repeat, spell: Spell) -> Node | None:
    if node.maximum == 0:
        return NOTHING
    if nullable(node.item) and (node.maximum is None or node.maximum > 1):
        return None
    item = expression_node(node.item, spell)
    if item is None or item == Choice(()):
        return item if item is None or node.minimum else NOTHING
    return item if (node.minimum, node.maximum) == (1, 1) else Repetition(item, node.minimum, node.maximum)


def _choice(parts: list[Node]) -> Node:
    options = list(dict.fromkeys(part for part in parts if part != Choice(())))
    if NOTHING in options:  # written last: what follows an empty alternative is hard to see
        options.remove(NOTHING)
        options.append(NOTHING)
    return options[0] if len(options) == 1 else Choice(tuple(options))


def _sequence(parts: list[Node]) -> Node:
    """With neighbouring literals merged."""
    merged: list[Node] = []
    for part in parts:
        for item in part.items if isinstance(part, Sequence) else (part,):
            if item == Choice(()):
                return item
            if isinstance(item, Literal) and merged and isinstance(merged[-1], Literal):
                merged[-1] = Literal(merged[-1].text + item.text)
            elif item != NOTHING:
                merged.append(item)
    return merged[0] if len(merged) == 1 else Sequence(tuple(merged)) if merged else NOTHING
