"""The rules that every converted grammar can draw on: JSON's own types, whitespace, one character of a string."""

from __future__ import annotations

from llama_cpp._features.grammar.tree import NOTHING, Characters, Choice, Literal, Node, Reference, Repetition, Sequence

from . import codepoints
from .numerals import DIGIT, EXPONENT, FRACTION, MAX_FRACTION
from .spelling import CHAR, ESCAPE_RULE, SPACE, string

MAX_INDENT = 32
ANY = "value"
"""The rule of any value; `OTHER_ANY` where the root itself has to have that name."""
OTHER_ANY = "any-value"

_HEX = Characters(codepoints.of("0123456789abcdefABCDEF"))
_WHOLE = Choice((Literal("0"), Sequence((Characters(((0x31, 0x39),)), Repetition(DIGIT)))))
_LIMITED = Choice((Literal("0"), Sequence((Characters(((0x31, 0x39),)), Repetition(DIGIT, 0, MAX_FRACTION)))))
_MINUS = Repetition(Literal("-"), 0, 1)

CHARACTER: Node = Choice(
    (
        Characters(codepoints.difference(codepoints.EVERY, ((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)))),
        Sequence((Literal("\\"), Choice((Characters(codepoints.of('"\\/bfnrt')), Sequence((Literal("u"), Reference("unicode"))))))),
    )
)
"""What a string may hold: any character but those that need an escape, or any escape."""
UNICODE: Node = Choice(
    (
        Sequence((Characters(codepoints.of("0123456789abcefABCEF")), Repetition(_HEX, 3, 3))),
        Sequence((Characters(codepoints.of("dD")), Characters(codepoints.of("01234567")), Repetition(_HEX, 2, 2))),
        Sequence(
            (
                Characters(codepoints.of("dD")),
                Characters(codepoints.of("89abAB")),
                Repetition(_HEX, 2, 2),
                Literal("\\u"),
                Characters(codepoints.of("dD")),
                Characters(codepoints.of("cdefCDEF")),
                Repetition(_HEX, 2, 2),
            )
        ),
    )
)
"""The digits of an escape. A surrogate comes with its other half: together they are one character."""
WHITESPACE: Node = Choice((Literal(" "), Sequence((Literal("\n"), Repetition(Characters(codepoints.of(" \t")), 0, MAX_INDENT))), NOTHING))
"""A space, or the end of a line and an indentation, or nothing: bounded, so that no model stays in it."""


def _container(opening: str, closing: str, item: tuple[Node, ...], space: tuple[Node, ...]) -> Node:
    more = Repetition(Sequence((Literal(","), *space, *item)))
    return Sequence((Literal(opening), *space, Repetition(Sequence((*item, more, *space)), 0, 1), Literal(closing)))


def rules(*, compact: bool = False, any_value: str = ANY) -> dict[str, Node]:
    """All of them by name. `compact` leaves whitespace out."""
    space: tuple[Node, ...] = () if compact else (SPACE,)
    value = Reference(any_value)
    kinds = ("object", "array", "string", "number", "boolean", "null")
    return {
        any_value: Choice(tuple(Reference(kind) for kind in kinds)),
        "object": _container("{", "}", (Reference("string"), Literal(":"), *space, value), space),
        "array": _container("[", "]", (value,), space),
        "string": string(Repetition(CHAR)),
        "number": Sequence((_MINUS, _LIMITED, Repetition(FRACTION, 0, 1), Repetition(EXPONENT, 0, 1))),
        "integer": Sequence((_MINUS, _WHOLE)),
        "boolean": Choice((Literal("true"), Literal("false"))),
        "null": Literal("null"),
        "char": CHARACTER,
        "unicode": UNICODE,
        "escape": ESCAPE_RULE,
        "space": WHITESPACE,
    }


RULES = {compact: {any_value: rules(compact=compact, any_value=any_value) for any_value in (ANY, OTHER_ANY)} for compact in (False, True)}


def references(node: Node) -> list[str]:
    """The names of rules in a node."""
    found: list[str] = []
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Reference):
            found.append(each.rule)
        elif isinstance(each, Sequence):
            waiting.extend(each.items)
        elif isinstance(each, Choice):
            waiting.extend(each.options)
        elif isinstance(each, Repetition):
            waiting.append(each.item)
    return found
