"""Values of object-like macros, computed from their tokens; what isn't a plain constant has none."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

Constant = int | float | bytes

_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)[uUlL]*\Z")
_FLOAT = re.compile(r"((?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)[fFlL]?\Z")


def literal(token: str) -> Constant | None:
    """The value of one literal token; None for anything else."""
    if match := _INTEGER.match(token):
        digits = match[1]
        octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
        return int(digits, 8 if octal else 0)
    if match := _FLOAT.match(token):
        return float(match[1])
    if token.startswith('"') and token.endswith('"'):
        value = ast.literal_eval("b" + token)
        return value if isinstance(value, bytes) else None
    return None


def evaluate(tokens: Sequence[str], known: Mapping[str, Constant]) -> Constant | None:
    """The value of a macro's replacement: a literal, another constant macro, either of them negated or in parentheses."""
    match list(tokens):
        case ["(", *inner, ")"]:
            return evaluate(inner, known)
        case ["-", operand]:
            value = evaluate([operand], known)
            return -value if isinstance(value, (int, float)) else None
        case [token]:
            value = literal(token)
            return known.get(token) if value is None else value
    return None
