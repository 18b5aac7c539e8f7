"""From GBNF text to a grammar tree, refusing what llama.cpp's parser refuses, and what it would not survive.

One pass without recursion, linear in the text. The patterns of single items are in `gbnf_lexis`; whether the rules can be followed
is looked at in `gbnf_rules`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from . import gbnf_lexis as lexis
from .gbnf_rules import TERMINAL, RuleTable
from .tree import ANY_CHARACTER, NOTHING, Choice, Grammar, Node, Reference, Repetition, Sequence

if TYPE_CHECKING:
    import re

DEFAULT_ROOT = "root"
MAX_REPETITION = 2000
"""llama.cpp refuses more repetitions than that, and takes a higher upper bound for none."""
MAX_NESTING = 500
"""Parentheses within parentheses: llama.cpp's parser calls itself for each."""
MAX_ELEMENTS = 8_000_000
"""Characters and references after all repetitions are written out, as llama.cpp keeps them: 8 bytes each."""

_SIGNS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


@dataclass(frozen=True, slots=True)
class ParsedGrammar:
    """What a text says: the tree, whether it names tokens, and the places of those that it names by their text."""

    tree: Grammar
    names_tokens: bool
    named_tokens: tuple[tuple[str, int], ...]


def parse_gbnf(text: str, root: str = DEFAULT_ROOT) -> ParsedGrammar:
    """The tree of a GBNF text whose outcome is what rule `root` matches.

    In it a `Choice` within a rule is a group in parentheses, and an upper bound beyond `MAX_REPETITION` is none, as llama.cpp
    has it: that is warned about. Raises `GrammarSyntaxError` with line and column.
    """
    return _Parser(text).parse(root)


@dataclass(slots=True)
class _Level:
    """A rule or a group that is being read: its finished options, and the items of the one that is not finished."""

    rule: int
    place: int = 0
    symbols: int = 0
    options: list[Node] = field(default_factory=list)
    alternates: list[list[int]] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    elements: list[int] = field(default_factory=list)

    def finish_option(self) -> None:
        items = self.items
        self.options.append(items[0] if len(items) == 1 else Sequence(tuple(items)) if items else NOTHING)
        self.alternates.append(self.elements)
        self.items, self.elements = [], []


class _Parser:
    """Beside the tree it keeps the rules as llama.cpp makes them (`RuleTable`), because its limits count those.

    Of the last item it knows how many entries it has in that table (`last`), how many elements llama.cpp makes of it (`size`),
    and how many rules, as that counts them (`weight`).
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.table = RuleTable()
        self.rules: dict[str, Node] = {}
        self.ids: dict[str, tuple[int, Reference]] = {}
        self.named: dict[str, int] = {}  # where each name was first met
        self.tokens: list[tuple[str, int]] = []
        self.names_tokens = False
        self.literals: dict[str, tuple[Node, int]] = {}
        self.classes: dict[str, tuple[Node, int]] = {}
        self.symbols = self.elements = 0
        self.levels: list[_Level] = []
        self.last, self.size, self.weight, self.wide = 0, 0, 1, True
        self.read = {
            lexis.LITERAL: self._literal,
            lexis.CLASS: self._class,
            lexis.NAME: self._reference,
            lexis.TOKEN: self._token,
            lexis.DOT: self._any,
            lexis.OPEN: self._open,
            lexis.CLOSE: self._close,
            lexis.OR: self._or,
            lexis.SIGN: self._sign,
            lexis.BRACES: self._braces,
        }

    def parse(self, root: str) -> ParsedGrammar:
        place = lexis.WIDE_SPACE.match(self.text).end()  # type: ignore[union-attr]  # it matches the empty text too
        while place < len(self.text):
            place = self._rule(place)
        if not self.rules:
            self._fail(place, "expected a rule, found none")
        for name, at in self.named.items():
            if name not in self.rules:
                self._fail(at, f"there is no rule {name!r}{_similar(name, self.rules)}")
        if root not in self.rules:
            self._fail(0, f"there is no rule {root!r} to begin with{_similar(root, self.rules)}")
        self.table.check(lambda rule, message: self._fail(self.named[self.table.names[rule]], message))
        return ParsedGrammar(Grammar(self.rules, root), self.names_tokens, tuple(self.tokens))

    def _fail(self, place: int, message: str) -> NoReturn:
        raise lexis.failure(self.text, place, message)

    def _symbol(self, name: str, place: int) -> tuple[int, Reference]:
        known = self.ids.get(name)
        if known is None:
            known = self.ids[name] = (self.table.add(name), Reference(name))
            self.named[name] = place
            self.symbols += 1
        return known

    def _rule(self, place: int) -> int:
        text, levels, read = self.text, self.levels, self.read
        head = lexis.HEAD.match(text, place)
        if head is None:
            self._fail(place, f"expected the name of a rule (letters, digits and -) and ::=, found {lexis.found(text, place)}")
        level = _Level(self._symbol(head[1], place)[0])
        self.named[head[1]] = place
        levels.append(level)
        self.last, self.wide, place = 0, True, head.end()
        while found := (lexis.WIDE_ITEM if self.wide else lexis.NARROW_ITEM).match(text, place):
            self.wide = False
            kind = found.lastindex or 0
            if kind == lexis.CLOSE and len(levels) == 1:
                self._fail(found.start(kind), "this parenthesis was not opened")
            read[kind](found)
            place = found.end()
            self.wide = self.wide or len(levels) > 1
        place = (lexis.WIDE_SPACE if self.wide else lexis.NARROW_SPACE).match(text, place).end()  # type: ignore[union-attr]
        end = lexis.RULE_END.match(text, place)
        if len(levels) > 1 and place == len(text):
            self._fail(levels[-1].place, "this parenthesis is not closed: expected )")
        if end is None or len(levels) > 1:
            raise lexis.explain(text, place)
        level.finish_option()
        self.rules[head[1]] = level.options[0] if len(level.options) == 1 else Choice(tuple(level.options))
        self.table.define(level.rule, level.alternates)
        levels.clear()
        return end.end()

    # ---- items ------------------------------------------------------------------------------------------------

    def _add(self, node: Node, element: int, size: int) -> None:
        level = self.levels[-1]
        level.items.append(node)
        if size:
            level.elements.append(element)
        self.last = 1 if size else 0
        self.size = size
        self.elements += size
        self.weight = 1

    def _literal(self, found: re.Match[str]) -> None:
        body = found[lexis.LITERAL]
        known = self.literals.get(body)
        if known is None:
            known = self.literals[body] = lexis.literal(body)
        self._add(known[0], TERMINAL, known[1])

    def _class(self, found: re.Match[str]) -> None:
        body = found[lexis.CLASS]
        known = self.classes.get(body)
        if known is None:
            known = self.classes[body] = lexis.character_class(body)
        self._add(known[0], TERMINAL, known[1])

    def _reference(self, found: re.Match[str]) -> None:
        name = found[lexis.NAME]
        rule, node = self.ids.get(name) or self._symbol(name, found.start(lexis.NAME))
        self._add(node, rule, 1)

    def _token(self, found: re.Match[str]) -> None:
        node = lexis.token(found[lexis.TOKEN])
        if node is None:
            self._fail(found.start(lexis.TOKEN), "expected the id of a token, found a number that is too large")
        self.names_tokens = True
        if isinstance(node.token, str):
            self.tokens.append((node.token, found.start(lexis.TOKEN)))
        self._add(node, TERMINAL, 1)

    def _any(self, _found: re.Match[str]) -> None:
        self._add(ANY_CHARACTER, TERMINAL, 1)

    def _or(self, _found: re.Match[str]) -> None:
        self.levels[-1].finish_option()
        self.elements += 1
        self.last, self.wide = 0, True

    def _open(self, found: re.Match[str]) -> None:
        place = found.start(lexis.OPEN)
        if len(self.levels) > MAX_NESTING:
            self._fail(place, f"parentheses are nested more than {MAX_NESTING} deep; give the inner ones a rule of their own")
        symbols = self.symbols
        self.symbols += 1
        self.levels.append(_Level(self.table.add(self.table.names[self.levels[0].rule]), place, symbols))
        self.last = 0

    def _close(self, _found: re.Match[str]) -> None:
        group = self.levels.pop()
        group.finish_option()
        self.table.define(group.rule, group.alternates)
        self._add(Choice(tuple(group.options)), group.rule, 1)
        self.weight = max(1, self.symbols - group.symbols)

    # ---- repetitions ------------------------------------------------------------------------------------------

    def _sign(self, found: re.Match[str]) -> None:
        self._repeat(found.start(lexis.SIGN), *_SIGNS[found[lexis.SIGN]])

    def _braces(self, found: re.Match[str]) -> None:
        place = found.start(lexis.BRACES)
        low = self._count(found[lexis.LOW], place)
        high: int | None = low
        if found[lexis.COMMA]:
            high = None if found[lexis.HIGH] is None else self._count(found[lexis.HIGH], place)
        if low > MAX_REPETITION:
            self._fail(place, f"llama.cpp repeats at most {MAX_REPETITION} times; for more, repeat a rule that repeats")
        if high is not None and high < low:
            self._fail(place, f"expected an upper bound of at least {low}, found {high}")
        if high is not None and high > MAX_REPETITION:
            error = lexis.failure(
                self.text, place, f"llama.cpp takes an upper bound of {high} repetitions for none; repeat a rule that repeats"
            )
            warnings.warn(str(error), stacklevel=2)
            high = None
        self._repeat(place, low, high)

    def _count(self, digits: str, place: int) -> int:
        significant = digits.lstrip("0") or "0"
        if len(significant) > 20 or int(significant) >= 1 << 64:  # noqa: PLR2004 - as many digits have 64 bits
            self._fail(place, "the number of repetitions is too large")
        return int(significant)

    def _repeat(self, place: int, low: int, high: int | None) -> None:
        level, last = self.levels[-1], self.last
        if not last:
            self._fail(place, "expected something to repeat before this, that is not empty")
        self.weight *= high or low or 1
        if self.weight > MAX_REPETITION:
            self._fail(place, f"these repetitions within each other make {self.weight} rules, and llama.cpp takes {MAX_REPETITION}")
        optional = 1 if high is None else high - low
        self.elements += low * self.size + optional * (self.size + 3)
        if self.elements > MAX_ELEMENTS:
            self._fail(place, f"with its repetitions written out the grammar has more than {MAX_ELEMENTS} elements")
        repeated = level.elements[-last:]
        del level.elements[-last:]
        kept = repeated * min(low, 2)  # more of them would tell the table nothing new
        if optional:
            kept.append(self.table.add_repetition(self.table.names[level.rule], repeated, None if high is None else optional))
        level.elements += kept
        level.items[-1] = Repetition(level.items[-1], low, high)
        self.symbols += optional
        self.last = len(kept)
        self.size = low * self.size + (1 if optional else 0)


def _similar(name: str, known: dict[str, Node]) -> str:
    """A hint at a rule that may be meant."""
    plain = name.lower().replace("-", "")
    meant = [each for each in known if each.lower().replace("-", "") == plain]
    return f"; is {meant[0]!r} meant?" if meant else ""
