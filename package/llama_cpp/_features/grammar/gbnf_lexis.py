"""What GBNF text consists of: the patterns of its items, and their values. How items form rules is the parser's business.

The syntax is that of the pinned llama.cpp's own parser, which reads the text again when a grammar is used.
"""

from __future__ import annotations

import re

from llama_cpp._features.errors import GrammarSyntaxError

from .tree import NOTHING, Characters, Literal, Node, Sequence, Token

_ESCAPE = r"\\(?:[trn\\\"\[\]-]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})"
_NAME = r"[A-Za-z0-9-]+"
_COMMENT = r"\#[^\r\n]*(?=[\r\n]|\Z)"
_NARROW = rf"(?:[ \t]|{_COMMENT})*"
_WIDE = rf"(?:[ \t\r\n]|{_COMMENT})*"
_ITEM = rf"""(?:
    "([^"\\]*(?:{_ESCAPE}[^"\\]*)*)"
  | \[([^\]\\]*(?:{_ESCAPE}[^\]\\]*)*)\]
  | ({_NAME})
  | (!?<(?:\[[0-9]+\]|(?!\[)[^>]*)>)
  | (\.)
  | (\()
  | (\))
  | (\|)
  | ([*+?])
  | (\{{@([0-9]+)@(?:(,)@(?:([0-9]+)@)?)?\}})
)"""

LITERAL, CLASS, NAME, TOKEN, DOT, OPEN, CLOSE, OR, SIGN, BRACES, LOW, COMMA, HIGH = range(1, 14)
"""The groups of an item's pattern; one of the first ten matched."""

RULE_NAME = re.compile(_NAME)
WIDE_SPACE = re.compile(_WIDE)
"""Blanks, comments and line ends."""
NARROW_SPACE = re.compile(_NARROW)
"""Blanks and a comment, within one line."""
HEAD = re.compile(f"({_NAME}){_NARROW}::=")
RULE_END = re.compile(rf"(?:\r\n|\r|\n|\Z){_WIDE}")
WIDE_ITEM = re.compile(_WIDE + _ITEM.replace("@", _WIDE), re.VERBOSE)
"""An item where line ends count as blanks: in parentheses, after `|` and after `::=`."""
NARROW_ITEM = re.compile(_NARROW + _ITEM.replace("@", _NARROW), re.VERBOSE)
"""An item on the same line."""

_CHARACTER = re.compile(rf"{_ESCAPE}|[^\\]")
_ESCAPED = re.compile(_ESCAPE)
_SIMPLE = {"t": 9, "r": 13, "n": 10, "\\": 92, '"': 34, "[": 91, "]": 93, "-": 45}
_HIGHEST = 0x10FFFF
_MAX_TOKEN = 0xFFFFFFFF
_MAX_TOKEN_DIGITS = 11


def failure(text: str, place: int, message: str) -> GrammarSyntaxError:
    """The error for a place in a text, with its line and column."""
    before = re.split(r"\r\n|\r|\n", text[:place])
    return GrammarSyntaxError(message, line=len(before), column=len(before[-1]) + 1)


def found(text: str, place: int) -> str:
    """What stands at a place, for messages."""
    if place >= len(text):
        return "the end of the text"
    return "the end of the line" if text[place] in "\r\n" else repr(text[place : place + 16].splitlines()[0])


def _code(character: str) -> int:
    if len(character) == 1:
        return ord(character)
    return _SIMPLE.get(character[1]) or int(character[2:], 16)  # noqa: FURB166 - not of Python's spelling


def literal(body: str) -> tuple[Node, int]:
    """The node of a quoted text, and how many characters it has."""
    if "\\" not in body:
        return (Literal(body) if body else NOTHING), len(body)
    codes = [_code(character) for character in _CHARACTER.findall(body)]
    if max(codes) <= _HIGHEST:
        return Literal("".join(map(chr, codes))), len(codes)
    each = (Characters(((code, code),)) if code > _HIGHEST else Literal(chr(code)) for code in codes)
    return Sequence(tuple(each)), len(codes)


def character_class(body: str) -> tuple[Node, int]:
    """The node of a class from what stands between its brackets, and how many characters and bounds it names.

    An empty class matches the empty text, as llama.cpp has it; a range whose end comes first matches nothing.
    """
    negated = body.startswith("^")
    codes = _CHARACTER.findall(body[1:] if negated else body)
    ranges: list[tuple[int, int]] = []
    at = size = 0
    while at < len(codes):
        low = high = _code(codes[at])
        at += 1
        if at + 1 < len(codes) and codes[at] == "-":
            high = _code(codes[at + 1])
            at += 2
            size += 1
        ranges.append((low, high))
        size += 1
    return (Characters(tuple(ranges), negated) if ranges else NOTHING), size


def token(body: str) -> Token | None:
    """The node of `<[id]>`, `<text>` and their negations; None for an id that no token can have."""
    negated = body.startswith("!")
    name = body.removeprefix("!")
    if not name.startswith("<["):
        return Token(name, negated)
    number = int(name[2:-2].lstrip("0")[:_MAX_TOKEN_DIGITS] or "0")
    return Token(number, negated) if number <= _MAX_TOKEN else None


def explain(text: str, place: int) -> GrammarSyntaxError:
    """Why no item could be read where one begins or should."""
    start = text[place : place + 1]
    if start in ('"', "["):
        return _unfinished(text, place, '"' if start == '"' else "]")
    if start in ("<", "!"):
        expected = "a token as <[123]> or <text>, or one of them after !"
        return failure(text, place, f"expected {expected}, found {found(text, place)}")
    if start == "{":
        return failure(text, place, f"expected a repetition as {{2}}, {{2,}} or {{2,5}}, found {found(text, place)}")
    return failure(text, place, f"expected the end of the rule, or something that can follow in it, found {found(text, place)}")


def _unfinished(text: str, place: int, end: str) -> GrammarSyntaxError:
    at = place + 1
    while at < len(text) and text[at] != end:
        if text[at] != "\\":
            at += 1
            continue
        escape = _ESCAPED.match(text, at)
        if escape is None:
            known = r"\t \r \n \\ \" \[ \] \- \x and two, \u and four, \U and eight hexadecimal digits"
            return failure(text, at, f"expected an escape ({known}), found {found(text, at)}")
        at = escape.end()
    what = "text in quotation marks" if end == '"' else "character class"
    return failure(text, place, f"this {what} has no end: expected {end}")
