"""Functions as TypeScript declarations, in a namespace: how some models were taught to read tools."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

_TYPES = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}


def namespace(tools: Sequence[Mapping[str, Any]]) -> str:
    """The declarations of all tools."""
    declared = "\n\n".join(_declaration(tool["function"]) for tool in tools)
    return f"namespace functions {{\n\n{declared}\n\n}} // namespace functions"


def _declaration(function: Mapping[str, Any]) -> str:
    parameters = function.get("parameters") or {}
    comment = "".join(f"// {line}\n" for line in str(function.get("description") or "").splitlines())
    body = _type(parameters) if parameters.get("properties") else ""
    return f"{comment}type {function['name']} = ({f'_: {body}' if body else ''}) => any;"


def _type(schema: Any, depth: int = 0) -> str:  # noqa: PLR0911 - one per kind
    """A schema as a type; what TypeScript has no word for is `any`."""
    if not isinstance(schema, Mapping):
        return "any"
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    if schema.get("enum"):
        return " | ".join(json.dumps(each, ensure_ascii=False) for each in schema["enum"])
    for joined in ("anyOf", "oneOf"):
        if schema.get(joined):
            return " | ".join(_type(each, depth) for each in schema[joined])
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(_type({**schema, "type": each}, depth) for each in kind)
    if kind == "array":
        inner = _type(schema.get("items"), depth)
        return f"Array<{inner}>" if "|" in inner else f"{inner}[]"
    if kind == "object" or "properties" in schema:
        return _record(schema, depth)
    return _TYPES.get(kind, "any") if isinstance(kind, str) else "any"


def _record(schema: Mapping[str, Any], depth: int) -> str:
    properties = schema.get("properties") or {}
    if not properties:
        return "object"
    indent = "  " * depth
    lines = ["{"]
    for name, each in properties.items():
        description = each.get("description") if isinstance(each, Mapping) else None
        lines += [f"{indent}// {line}" for line in str(description or "").splitlines()]
        optional = "" if name in (schema.get("required") or ()) else "?"
        lines.append(f"{indent}{name}{optional}: {_type(each, depth + 1)},")
    return "\n".join([*lines, f"{indent}}}"])
