"""A grammar's tree as GBNF text that llama.cpp's parser takes, large repetitions included. Reading text is done elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .tree import Characters, Choice, Grammar, Literal, Node, Reference, Repetition, Sequence, Token

BLOCK = 1000
"""llama.cpp takes no repetition above 2,000, and reads a larger upper bound as no bound."""
FEW = 8
MANY = 500

_PLAIN = re.compile(r"[ !#-\[\]-~\u00a0-\ud7ff\ue000-\U0010ffff]*")
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_LAST = 0x10FFFF


def print_grammar(grammar: Grammar) -> str:
    """The text: one rule a line, in the order of the mapping, the root first. Rules for large repetitions follow those that need them."""
    rules = grammar.rules
    order = [grammar.root, *(name for name in rules if name != grammar.root)] if grammar.root in rules else list(rules)
    return "".join(line for name in order for line in print_rule(name, rules[name]))


def print_rule(name: str, node: Node) -> Iterator[str]:
    """The lines of one rule."""
    printer = _Printer(name)
    yield f"{name} ::= {printer.choice(node)}\n"
    yield from printer.blocks


def print_inline(name: str, node: Node) -> tuple[str, list[str]]:
    """A node as one or more items of a sequence, and the lines of the rules that it needs, whose names begin with `name`."""
    printer = _Printer(name)
    return printer.sequence(node), printer.blocks


def quoted(text: str) -> str:
    """A text as GBNF writes it."""
    if _PLAIN.fullmatch(text):
        return f'"{text}"'
    return '"' + "".join(_ESCAPES.get(each) or (each if _PLAIN.fullmatch(each) else _point(ord(each))) for each in text) + '"'


def _point(point: int) -> str:
    return f"\\x{point:02X}" if point <= 0xFF else f"\\u{point:04X}" if point <= 0xFFFF else f"\\U{point:08X}"  # noqa: PLR2004 - digits


def _member(point: int) -> str:
    """A code point inside brackets."""
    character = chr(point)
    return character if character.isascii() and (character.isalnum() or character in " _.,:;/+") else _point(point)


def _characters(node: Characters) -> str:
    ranges, negated = node.ranges, node.negated
    if not ranges:
        if negated:
            return "."
        raise ValueError("a class without characters matches nothing, which GBNF cannot say")
    for at in range(len(ranges) - 1):
        if (ranges[at][1], ranges[at + 1][0]) == (0xD7FF, 0xE000):  # surrogates are no characters: no gap
            ranges = (*ranges[:at], (ranges[at][0], ranges[at + 1][1]), *ranges[at + 2 :])
            break
    if not negated and ranges[-1][1] == _LAST and len(ranges) > 1 and ranges[-1][0] < 0x80:  # noqa: PLR2004 - ASCII
        # All but some of ASCII reads best negated. Beyond ASCII that would hinder tokens that end within a character.
        negated, ranges = True, tuple(_gaps(ranges))
    inner = "".join(_member(low) if low == high else f"{_member(low)}-{_member(high)}" for low, high in ranges)
    return f"[^{inner}]" if negated else f"[{inner}]"


def _gaps(ranges: tuple[tuple[int, int], ...]) -> Iterator[tuple[int, int]]:
    at = 0
    for low, high in ranges:
        if low > at:
            yield at, low - 1
        at = high + 1


def _size(node: Node) -> int:
    """How many nodes there are, at least one for each rule that the parser makes of them."""
    count, waiting = 0, [node]
    while waiting:
        each = waiting.pop()
        count += 1
        if isinstance(each, Sequence):
            waiting.extend(each.items)
        elif isinstance(each, Choice):
            waiting.extend(each.options)
        elif isinstance(each, Repetition):
            count += max(each.minimum, each.maximum or 1)
            waiting.append(each.item)
    return count


class _Printer:
    """Prints one rule, and collects the rules that its large repetitions need."""

    def __init__(self, rule: str) -> None:
        self._rule = rule
        self.blocks: list[str] = []

    def choice(self, node: Node) -> str:
        """Where alternatives may stand bare."""
        if isinstance(node, Choice) and node.options:
            return " | ".join(self.sequence(option) for option in node.options)
        return self.sequence(node)

    def sequence(self, node: Node) -> str:
        """Where items may stand bare."""
        if isinstance(node, Sequence) and node.items:
            return " ".join(self.sequence(item) if isinstance(item, Sequence) else self.item(item) for item in node.items)
        return self.item(node)

    def item(self, node: Node) -> str:  # noqa: PLR0911 - one for each kind of node
        """One item, in parentheses where it needs them."""
        if isinstance(node, Literal):
            return quoted(node.text)
        if isinstance(node, Reference):
            return node.rule
        if isinstance(node, Characters):
            return _characters(node)
        if isinstance(node, Repetition):
            return self.repetition(node)
        if isinstance(node, Token):
            written = f"<[{node.token}]>" if isinstance(node.token, int) else node.token
            return f"!{written}" if node.negated else written
        if isinstance(node, Choice) and not node.options:
            raise ValueError("a choice without options matches nothing, which GBNF cannot say")
        if isinstance(node, Sequence) and not node.items:
            return '""'
        return f"({self.choice(node)})"

    def repetition(self, node: Repetition) -> str:
        low, high = node.minimum, node.maximum
        if high == 0:
            return '""'
        if (low, high) == (1, 1):
            return self.item(node.item)
        single = isinstance(node.item, Reference | Characters | Token) or (isinstance(node.item, Literal) and len(node.item.text) == 1)
        largest = max(low, high or 0)
        item = self.item(node.item)
        if not single and (largest > FEW or _size(node.item) * max(largest, 1) > MANY):
            # llama.cpp copies what is repeated, and limits how many rules that makes or mentions.
            item = self._block(self.choice(node.item))
        if (low, high) in ((0, None), (1, None), (0, 1)):
            return item + {(0, None): "*", (1, None): "+", (0, 1): "?"}[low, high]
        if largest <= BLOCK:
            return f"{item}{{{low}}}" if low == high else f"{item}{{{low},{'' if high is None else high}}}"
        parts = [self._exactly(item, low)] if low else []
        if high is None:
            parts.append(f"{item}*")
        elif high > low:
            parts.append(self._up_to(item, high - low))
        return " ".join(parts)

    def _block(self, definition: str) -> str:
        name = f"{self._rule}--r{len(self.blocks) + 1}"
        self.blocks.append(f"{name} ::= {definition}\n")
        return name

    def _exactly(self, item: str, count: int) -> str:
        """`count` of them, thousands as blocks."""
        parts = []
        while count >= BLOCK:
            blocks, rest = divmod(count, BLOCK)
            if rest:
                parts.append(f"{item}{{{rest}}}")
            item, count = self._block(f"{item}{{{BLOCK}}}"), blocks
        if count:
            parts.append(item if count == 1 else f"{item}{{{count}}}")
        return " ".join(parts)

    def _up_to(self, item: str, count: int) -> str:
        """At most `count`: whole blocks and what remains, such that few ways to read a text are open at a time."""
        if count <= BLOCK:
            return f"{item}{{0,{count}}}"
        block = BLOCK
        while block * BLOCK < count:
            block *= BLOCK
        blocks, rest = divmod(count, block)
        full = self._block(self._exactly(item, block))
        less = self._block(self._up_to(item, block - 1))
        last = self._block(self._up_to(item, rest)) if rest else '""'
        # Up to `blocks` full ones: less than one more behind fewer than all of them, the rest behind all.
        tail = last
        chain = self._block(f"{full} {tail} | {less}")
        for _ in range(blocks - 1):
            chain = self._block(f"{full} {chain} | {less}")
        return chain
