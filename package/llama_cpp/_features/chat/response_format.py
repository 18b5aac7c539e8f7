"""What `response_format` demands of an answer, as a grammar: exactly that, or an error that names what cannot be held."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from llama_cpp._features.grammar.definition import LlamaGrammar

from .reasoning_rules import thoughts
from .rule_book import RuleBook, sequence
from .schema_rules import compile_schema

if TYPE_CHECKING:
    from .output.description import OutputFormat

__all__ = ["response_constraint", "response_schema"]

ANY_OBJECT: Mapping[str, Any] = {"type": "object"}
_TYPES = ("text", "json_object", "json_schema")


def response_schema(response_format: Any) -> Any:
    """The JSON Schema of the answer that is asked for; None where it may be any text.

    Accepted are OpenAI's shapes, `{"type": "json_object", "schema": …}`, a `json_schema` that is the schema itself, and pydantic
    models. ValueError for anything else.
    """
    if response_format is None:
        return None
    made = getattr(response_format, "model_json_schema", None)
    if callable(made):
        return made()
    if not isinstance(response_format, Mapping):
        raise ValueError(  # noqa: TRY004 - one error for all that makes no sense
            f"response_format must be a dict with a 'type', or a pydantic model, not {response_format!r}"
        )
    kind = response_format.get("type")
    if kind not in _TYPES:
        raise ValueError(f"the type of response_format must be one of {', '.join(map(repr, _TYPES))}, not {kind!r}")
    if kind == "text":
        return None
    schema = response_format.get("schema")
    if kind == "json_schema":
        schema = _named_schema(response_format)
        if schema is None:
            raise ValueError("response_format 'json_schema' needs {'json_schema': {'name': …, 'schema': …}}")
    return ANY_OBJECT if schema in (None, {}) else _loaded(schema)


def _named_schema(response_format: Mapping[str, Any]) -> Any:
    named = response_format.get("json_schema")
    if named is None:
        return response_format.get("schema")
    if isinstance(named, Mapping) and isinstance(named.get("schema"), Mapping | bool | str):
        return named["schema"]
    return None if named == {} or (isinstance(named, Mapping) and "name" in named and "type" not in named) else named


def _loaded(schema: Any) -> Any:
    if isinstance(schema, str):
        try:
            schema = json.loads(schema)
        except ValueError as error:
            raise ValueError(f"the schema of response_format is no JSON: {error}") from None
    made = getattr(schema, "model_json_schema", None)
    schema = made() if callable(made) else schema
    if not isinstance(schema, Mapping | bool):
        raise ValueError(f"the schema of response_format must be an object, not {schema!r}")  # noqa: TRY004 - as above
    return schema


def response_constraint(
    response_format: Any,
    *,
    format: OutputFormat | None = None,  # noqa: A002 - what it is
    reasoning_started: bool = False,
) -> LlamaGrammar | None:
    """The grammar of the answer that is asked for; None where it may be any text.

    In a `format` the answer may be preceded by thoughts, and stands where the format has its content; `reasoning_started`
    says that the prompt ends within thoughts. Objects that list their properties have no others. Raises ValueError
    for formats that make no sense, and `UnsupportedSchemaError` for schemas that a grammar cannot hold to: nothing is
    loosened.
    """
    schema = response_schema(response_format)
    if schema is None:
        return None
    book = RuleBook(compile_schema)
    answer = book.schema("answer", schema)
    if format is None:
        return LlamaGrammar(book.text(answer))
    header = format.channels.written_content if format.channels is not None else ""
    return LlamaGrammar(book.text(sequence(thoughts(format, started=reasoning_started), header, answer)))
