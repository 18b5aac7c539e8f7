"""Arguments that a format doesn't write as JSON, turned into JSON with the types that the tool's schema asks for."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .json_reading import as_json

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
_JSON_NAMES: Mapping[str, Any] = {"true": True, "false": False, "null": None}
_NO_JSON = (float("inf"), float("-inf"))
_LONGEST_LITERAL = 100_000
_DEEPEST = 100


def allowed_types(schema: object, root: object) -> frozenset[str]:
    """The JSON types that a schema may ask for; all of them where it doesn't say."""
    return frozenset(_types(schema, root, 0)) or frozenset(_TYPES)


def _types(schema: object, root: object, depth: int) -> Iterator[str]:
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        yield from _types(_resolved(reference, root), root, depth + 1)
    named = schema.get("type")
    if isinstance(named, str):
        yield named
    elif isinstance(named, list):
        yield from (each for each in named if isinstance(each, str))
    elif "enum" in schema or "const" in schema:
        values = schema["enum"] if isinstance(schema.get("enum"), list) else [schema.get("const")]
        yield from (name for value in values for name, types in _TYPES.items() if type(value) in types)
    else:
        for keyword in ("anyOf", "oneOf", "allOf"):
            for part in schema.get(keyword) or ():
                yield from _types(part, root, depth + 1)


def _resolved(reference: str, root: object) -> object:
    found = root
    for part in reference[1:].split("/")[1:]:
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found


def json_of(text: str, types: frozenset[str]) -> str:
    """JSON for an argument that stands as plain text: what it reads as if one of `types` allows that, else a string."""
    if types == {"string"}:
        return as_json(text)
    raw, value = _read_as_json(text.strip())
    fits = any(type(value) in _TYPES[name] for name in types if name in _TYPES)
    is_text = isinstance(value, _NoLiteral | str)
    return raw if not is_text and (fits or "string" not in types) else as_json(text)


def _read_as_json(text: str) -> tuple[str, Any]:
    """JSON text for what reads as JSON or as a Python literal, and its value."""
    try:
        return text, json.loads(text, strict=False, parse_constant=_refused)
    except (ValueError, RecursionError):
        value = literal(text)
    return ("" if isinstance(value, _NoLiteral) else as_json(value)), value


def _refused(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


class _NoLiteral:
    """Stands for text that is no literal."""


_NO_LITERAL = _NoLiteral()


def literal(text: str) -> Any:
    """The value of a Python literal, in which JSON's names count too; a text that is none gives an object of no JSON type."""
    if len(text) > _LONGEST_LITERAL:
        return _NO_LITERAL
    try:
        return _evaluated(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _NO_LITERAL


def _evaluated(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value) if value not in _NO_JSON:
            return value
        case ast.Name(id=name) if name in _JSON_NAMES:
            return _JSON_NAMES[name]
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [_evaluated(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            return {str(_evaluated(_present(key))): _evaluated(value) for key, value in zip(keys, values, strict=True)}
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
    raise ValueError("not a literal")


def _present(key: ast.expr | None) -> ast.expr:
    if key is None:
        raise ValueError("not a literal")
    return key


def python_json(text: str) -> str:
    """JSON for a Python literal; what is no literal becomes a string."""
    raw, value = _read_as_json(text.strip())
    return as_json(text.strip()) if isinstance(value, _NoLiteral) else raw


_BARE_KEY = re.compile(r"\s*([^\s:,{}\[\]]+)\s*:")
_BARE_WORD = re.compile(r"[^,{}\[\]]+")


def braced_json(text: str, quote: str) -> str:
    """JSON for a value of a format with bare keys, and strings between two `quote`."""
    value, _ = _braced(text.strip(), 0, quote, 0)
    return as_json(value)


def _braced(text: str, at: int, quote: str, depth: int) -> tuple[Any, int]:
    if depth > _DEEPEST:
        return text[at:], len(text)
    if text.startswith(quote, at):
        end = text.find(quote, at + len(quote))
        end = len(text) if end < 0 else end
        return text[at + len(quote) : end], end + len(quote)
    if text[at : at + 1] in ("{", "["):
        return _braced_items(text, at, quote, depth)
    found = _BARE_WORD.match(text, at)
    if found is None:
        return "", at
    word = found[0].strip()
    value = literal(word)
    return (word if isinstance(value, _NoLiteral) else value), found.end()


def _braced_items(text: str, at: int, quote: str, depth: int) -> tuple[Any, int]:
    is_object = text[at] == "{"
    members: dict[str, Any] = {}
    items: list[Any] = []
    at += 1
    while at < len(text) and text[at] not in "}]":
        if text[at] in ", \n\t":
            at += 1
            continue
        key = ""
        if is_object:
            key, at = _braced_key(text, at, quote)
        start = at
        value, at = _braced(text, at, quote, depth + 1)
        at = max(at, start + 1) if not is_object else at
        items.append(value)
        members[key] = value
    return (members if is_object else items), at + 1


def _braced_key(text: str, at: int, quote: str) -> tuple[str, int]:
    if text.startswith(quote, at):
        end = text.find(quote, at + len(quote))
        colon = text.find(":", max(end, at))
        if 0 <= end < colon:
            return text[at + len(quote) : end], colon + 1
    found = _BARE_KEY.match(text, at)
    return (found[1], found.end()) if found else (text[at:], len(text))


def element_json(text: str, mark: str) -> str:
    """JSON for nested elements, each tag behind `mark`: a list of those named `item`, an object of others."""
    opened: list[tuple[str, list[tuple[str, Any]], int]] = [("", [], 0)]
    for tag in re.finditer(rf"{re.escape(mark)}<(/?)([^<>]+)>", text):
        if not tag[1]:
            opened.append((tag[2], [], tag.end()))
        elif len(opened) > 1 and opened[-1][0] == tag[2]:
            name, inside, begin = opened.pop()
            value = _gathered(inside) if inside else json.loads(json_of(text[begin : tag.start()], frozenset(_TYPES)))
            opened[-1][1].append((name, value))
    return as_json(_gathered(opened[0][1]))


def _gathered(elements: list[tuple[str, Any]]) -> Any:
    return [value for _, value in elements] if {name for name, _ in elements} == {"item"} else dict(elements)
