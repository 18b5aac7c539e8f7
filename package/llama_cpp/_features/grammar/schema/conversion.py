"""The converter as programs call it: `json_schema_to_gbnf` and `SchemaConverter`."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from llama_cpp._features.errors import InvalidSchemaError, UnsupportedSchemaError

from . import dataclass_schema, fetching
from .compiler import ROOT, Compiler, Options

PropertyOrder = Sequence[str] | Mapping[str, int]


def json_schema_to_gbnf(
    schema: Any,
    prop_order: PropertyOrder | None = None,
    allow_fetch: bool = False,
    dotall: bool = False,
    raw_pattern: bool = False,
    *,
    compact: bool = False,
    open_objects: bool = False,
) -> str:
    """The grammar, in GBNF, of exactly what a JSON Schema allows.

    `schema` is JSON text, a dict, a bool, a pydantic model or type adapter, or a dataclass; it is never changed.
    Properties named in `prop_order` come before the others, in that order. `allow_fetch` lets `$ref` reach other
    documents by http(s). `dotall` lets `.` in patterns match ends of lines. `raw_pattern` writes strings that have a
    pattern without quotes and escapes. `compact` allows no whitespace. `open_objects` allows undeclared properties where
    a schema says nothing of them; otherwise objects that declare properties have no others.

    Raises `UnsupportedSchemaError` for what a grammar cannot say exactly and `InvalidSchemaError` for what is no JSON
    Schema: both are a ValueError with `keyword` and `pointer`.
    """
    converter = SchemaConverter(prop_order, allow_fetch, dotall, raw_pattern, compact=compact, open_objects=open_objects)
    return converter.convert(schema)


class SchemaConverter:
    """A converter with fixed options, which `json_schema_to_gbnf` describes."""

    def __init__(
        self,
        prop_order: PropertyOrder | None = None,
        allow_fetch: bool = False,
        dotall: bool = False,
        raw_pattern: bool = False,
        *,
        compact: bool = False,
        open_objects: bool = False,
    ) -> None:
        self._options = Options(
            order=_ranks(prop_order),
            allow_fetch=bool(allow_fetch),
            dotall=bool(dotall),
            raw_pattern=bool(raw_pattern),
            compact=bool(compact),
            open_objects=bool(open_objects),
        )
        self._text = ""

    def convert(self, schema: Any) -> str:
        """The grammar of a schema, in GBNF."""
        try:
            return Compiler(schema_of(schema), self._options).text()
        except RecursionError as error:
            raise UnsupportedSchemaError("schema", "#", "schemas or values are nested too deeply") from error

    def resolve_refs(self, schema: Any, url: str) -> Any:  # noqa: ARG002 - references are followed where they are met
        """The schema as it is: for programs that convert in the three steps `resolve_refs`, `visit`, `format_grammar`."""
        return schema

    def visit(self, schema: Any, name: str | None) -> str:  # noqa: ARG002 - there is one root
        """Convert a schema; the name of the rule that stands for it."""
        self._text = self.convert(schema)
        return ROOT

    def format_grammar(self) -> str:
        """The grammar of the schema that was visited last."""
        return self._text


def schema_of(value: Any) -> Any:
    """The JSON Schema that a value is or has: text, dict, bool, pydantic model or type adapter, dataclass."""
    if isinstance(value, dict | bool):
        return value
    if isinstance(value, str | bytes):
        try:
            return fetching.parse(value)
        except ValueError as error:
            raise InvalidSchemaError("schema", "#", f"the text is no JSON: {error}") from error
    for method in ("model_json_schema", "json_schema", "schema"):  # pydantic 2, its TypeAdapter, pydantic 1
        made = getattr(value, method, None)
        if callable(made):
            return made()
    if dataclasses.is_dataclass(value):
        if hasattr(value, "__pydantic_validator__"):
            return importlib.import_module("pydantic").TypeAdapter(value).json_schema()
        return dataclass_schema.of(value if isinstance(value, type) else type(value))
    if isinstance(value, Mapping):
        return dict(value)
    raise InvalidSchemaError(
        "schema", "#", f"a JSON Schema is a dict, JSON text, a pydantic model or a dataclass, not {type(value).__name__}"
    )


def _ranks(order: PropertyOrder | None) -> dict[str, int]:
    if not order:
        return {}
    if isinstance(order, str):
        raise TypeError("prop_order is a list of names")
    names = sorted(order, key=order.__getitem__) if isinstance(order, Mapping) else order
    return {name: rank for rank, name in enumerate(dict.fromkeys(names))}
