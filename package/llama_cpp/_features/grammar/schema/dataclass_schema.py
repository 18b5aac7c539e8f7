"""The JSON Schema of a standard dataclass, from its type hints."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import types
import typing
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

from llama_cpp._features.errors import UnsupportedSchemaError

_SCALARS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    decimal.Decimal: {"type": "number"},
    dt.date: {"type": "string", "format": "date"},
    dt.datetime: {"type": "string", "format": "date-time"},
    dt.time: {"type": "string", "format": "time"},
    uuid.UUID: {"type": "string", "format": "uuid"},
}


def of(kind: type) -> dict[str, Any]:
    """The schema of a dataclass; fields without a default are required. Dataclasses in it are definitions, and may be recursive."""
    builder = _Builder()
    root = builder.schema(kind, kind.__name__)
    return {**root, "$defs": builder.definitions}


class _Builder:
    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self._names: dict[type, str] = {}

    def schema(self, hint: Any, place: str) -> dict[str, Any]:
        if hint in (Any, object):
            return {}
        if isinstance(hint, type) and dataclasses.is_dataclass(hint):
            return self._dataclass(hint)
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return {"enum": [each.value for each in hint]}
        try:
            if hint in _SCALARS:
                return dict(_SCALARS[hint])
        except TypeError:  # not hashable
            pass
        return self._generic(hint, place)

    def _generic(self, hint: Any, place: str) -> dict[str, Any]:  # noqa: PLR0911 - one for each kind of hint
        origin, arguments = get_origin(hint) or hint, get_args(hint)
        if origin is typing.Annotated:
            return self.schema(arguments[0], place)
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin in (Union, types.UnionType):
            return {"anyOf": [self.schema(each, place) for each in arguments]}
        if origin is tuple and arguments and arguments[-1] is not Ellipsis:
            items = [self.schema(each, place) for each in arguments]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        if isinstance(origin, type) and issubclass(origin, Mapping):
            if arguments and arguments[0] is not str:
                raise UnsupportedSchemaError("type", place, f"keys of {hint} must be str")
            return {"type": "object", "additionalProperties": self.schema(arguments[1], place) if arguments else True}
        if isinstance(origin, type) and issubclass(origin, set | frozenset):
            return {"type": "array", "items": self.schema(arguments[0], place) if arguments else {}, "uniqueItems": True}
        if isinstance(origin, type) and issubclass(origin, Sequence) and not issubclass(origin, str | bytes):
            return {"type": "array", "items": self.schema(arguments[0], place) if arguments else {}}
        raise UnsupportedSchemaError("type", place, f"{hint} has no JSON Schema")

    def _dataclass(self, kind: type) -> dict[str, Any]:
        if kind not in self._names:
            name = kind.__name__
            while name in self.definitions:
                name += "_"
            self._names[kind] = name
            self.definitions[name] = {}
            hints = typing.get_type_hints(kind, include_extras=True)
            own = [each for each in dataclasses.fields(kind) if each.init]
            self.definitions[name] = {
                "type": "object",
                "properties": {each.name: self.schema(hints[each.name], f"{name}.{each.name}") for each in own},
                "required": [
                    each.name for each in own if each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
                ],
                "additionalProperties": False,
            }
        return {"$ref": f"#/$defs/{self._names[kind]}"}
