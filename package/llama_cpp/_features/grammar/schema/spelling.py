"""How JSON writes characters, texts and values, as nodes. One spelling each, but for strings that nothing else constrains.

Characters stand for themselves; what JSON cannot hold raw has its short escape, or one of four digits.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from llama_cpp._features.grammar.schema import codepoints
from llama_cpp._features.grammar.schema.codepoints import Ranges
from llama_cpp._features.grammar.tree import Characters, Choice, Literal, Node, Reference, Sequence

CHAR = Reference("char")
ESCAPE = Reference("escape")
SPACE = Reference("space")
QUOTE = Literal('"')

SHORT = {0x22: '"', 0x5C: "\\", 0x08: "b", 0x0C: "f", 0x0A: "n", 0x0D: "r", 0x09: "t"}
ESCAPED: Ranges = ((0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C))
"""What JSON cannot hold raw."""
_RAW = codepoints.difference(codepoints.EVERY, ESCAPED)


def character(characters: Ranges) -> Node:
    """One character of a set inside a JSON string."""
    if characters == codepoints.EVERY:
        return CHAR
    options: list[Node] = []
    if raw := codepoints.intersection(characters, _RAW):
        options.append(Literal(chr(raw[0][0])) if codepoints.size(raw) == 1 else Characters(raw))
    if not codepoints.difference(ESCAPED, characters):
        return Choice((*options, ESCAPE))
    escaped = [point for low, high in codepoints.difference(characters, _RAW) for point in range(low, high + 1)]
    return _alternatives([*options, *_escapes(escaped)])


def _alternatives(options: list[Node]) -> Node:
    return options[0] if len(options) == 1 else Choice(tuple(options))


def _escapes(escaped: list[int]) -> list[Node]:
    """The escapes of characters that need one."""
    options: list[Node] = []
    if short := [SHORT[point] for point in escaped if point in SHORT]:
        options.append(
            Literal("\\" + short[0]) if len(short) == 1 else Sequence((Literal("\\"), Characters(codepoints.of("".join(short)))))
        )
    for high in (0, 1):
        digits = [point % 16 for point in escaped if point not in SHORT and point // 16 == high]
        if digits:
            options.append(Sequence((Literal(f"\\u00{high}"), Characters(codepoints.of("".join(f"{d:x}{d:X}" for d in digits))))))
    return options


def plain_character(characters: Ranges) -> Node:
    """One character of a set as it is: outside JSON strings."""
    return Literal(chr(characters[0][0])) if codepoints.size(characters) == 1 else Characters(characters)


ESCAPE_RULE: Node = Choice(tuple(_escapes([point for low, high in ESCAPED for point in range(low, high + 1)])))
"""Any character that JSON cannot hold raw."""


def string(inner: Node) -> Node:
    """A JSON string of what stands between the quotes."""
    return Sequence((QUOTE, inner, QUOTE))


def text(value: str) -> str:
    """A JSON string, quotes included. Half a surrogate pair, which UTF-8 cannot hold, keeps its escape."""
    written = json.dumps(value, ensure_ascii=False)
    return written if written.isascii() else "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in written)


def value_node(value: Any, *, compact: bool) -> Node:
    """A JSON value in its one spelling; whitespace where containers may have it."""
    parts: list[Node] = []
    _write(value, parts, compact=compact)
    merged: list[Node] = []
    for part in parts:
        if merged and isinstance(part, Literal) and isinstance(merged[-1], Literal):
            merged[-1] = Literal(merged[-1].text + part.text)
        else:
            merged.append(part)
    return merged[0] if len(merged) == 1 else Sequence(tuple(merged))


def number_text(value: float | Decimal) -> str:
    """The shortest decimal spelling; no exponent where that stays short."""
    if isinstance(value, int):
        return str(value)
    exact = value if isinstance(value, Decimal) else Decimal(repr(value))
    if exact == exact.to_integral_value() and exact.adjusted() < 16:  # noqa: PLR2004 - beyond, floats have no units
        return str(int(exact))
    plain = format(exact.normalize(), "f")
    return plain if len(plain) <= 24 else str(exact.normalize()).replace("E+", "e").replace("E", "e")  # noqa: PLR2004


def _write(value: Any, parts: list[Node], *, compact: bool) -> None:
    space = () if compact else (SPACE,)
    if isinstance(value, dict):
        entries: Iterable[tuple[str, Any]] = [(f"{text(name)}:", inner) for name, inner in value.items()]
    elif isinstance(value, list | tuple):
        entries = [("", inner) for inner in value]
    else:
        parts.append(Literal(_scalar(value)))
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    parts.extend((Literal(opening), *space))
    for number, (prefix, inner) in enumerate(entries):
        if number:
            parts.extend((Literal(","), *space))
        if prefix:
            parts.extend((Literal(prefix), *space))
        _write(inner, parts, compact=compact)
    parts.extend((*(space if value else ()), Literal(closing)))


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return text(value) if isinstance(value, str) else number_text(value)
