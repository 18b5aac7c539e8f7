"""Converted schemas as llama.cpp itself follows them, against `jsonschema`."""

from __future__ import annotations

import datetime as dt
import json
from typing import Annotated, Any, Literal

import pydantic
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from rig import native_grammar
from rig.profiles import examples
from rig.schema_strategies import SCHEMAS, VALUES, near, spellings

from llama_cpp import Llama
from llama_cpp.errors import UnsupportedSchemaError
from llama_cpp.llama_grammar import json_schema_to_gbnf


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(schema=SCHEMAS, values=st.lists(VALUES, min_size=3, max_size=6), data=st.data())
def test_llama_cpp_and_the_validator_agree(shared_synthetic: Llama, schema: Any, values: list[Any], data: st.DataObject) -> None:
    try:
        grammar = json_schema_to_gbnf(schema, open_objects=True)
    except UnsupportedSchemaError:
        assume(condition=False)
        return
    values += [data.draw(near(value)) for value in named(schema)[:4]]
    validator = Draft202012Validator(schema)
    with native_grammar.NativeGrammar(shared_synthetic, grammar) as follows:
        for value in values:
            assert any(map(follows.accepts, spellings(value, limit=24))) == validator.is_valid(value), (value, grammar)


def named(schema: Any) -> list[Any]:
    """The values that a schema speaks of."""
    if not isinstance(schema, dict):
        return []
    found = [*schema.get("enum", []), *([schema["const"]] if "const" in schema else [])]
    found += [dict.fromkeys(schema.get("required", []), 1), dict.fromkeys(schema.get("properties", {}), 3), [1, 2], "ab", 2]
    return [*found, *(value for keyword in ("anyOf", "allOf", "oneOf") for inner in schema.get(keyword, []) for value in named(inner))]


def accepted(model: Llama, schema: Any, *texts: str, **options: Any) -> list[bool]:
    with native_grammar.NativeGrammar(model, json_schema_to_gbnf(schema, **options)) as follows:
        return [follows.accepts(text) for text in texts]


def test_large_limits_are_exact(synthetic: Llama) -> None:
    long = {"type": "string", "minLength": 1998, "maxLength": 4001}
    assert accepted(synthetic, long, *('"' + "x" * count + '"' for count in (1997, 1998, 2999, 4001, 4002))) == [
        False,
        True,
        True,
        True,
        False,
    ]
    items = {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 2500}
    assert accepted(synthetic, items, *("[" + ",".join(["true"] * count) + "]" for count in (1, 2, 2500, 2501))) == [
        False,
        True,
        True,
        False,
    ]
    for schema in ({"type": "string", "maxLength": 10_000_000}, {"type": "array", "items": {"type": "object"}, "maxItems": 1_000_000}):
        assert native_grammar.parses(synthetic, json_schema_to_gbnf(schema))


def test_many_optional_properties(synthetic: Llama) -> None:
    schema = {"type": "object", "properties": {f"p{number}": {"type": "integer"} for number in range(1200)}}
    texts = ("{}", '{"p0": 1}', '{"p1199": 1}', '{"p3": 1, "p7": 2, "p1199": 3}', '{"p7": 2, "p3": 1}', '{"p1200": 1}')
    assert accepted(synthetic, schema, *texts) == [True, True, True, True, False, False]


def test_characters_beyond_ascii(synthetic: Llama) -> None:
    schema = {
        "type": "object",
        "properties": {"größe": {"enum": ["数", "😀"]}, "t": {"type": "string", "maxLength": 1}},
        "additionalProperties": {"type": "null"},
    }
    texts = (
        '{"größe": "数"}',
        '{"größe": "😀", "t": "\\ud83d\\ude00"}',
        '{"t": "ab"}',
        '{"gr\\u00f6\\u00dfe": null}',
        '{"größer": null}',
        '{"t": "\\ud83d"}',
    )
    assert accepted(synthetic, schema, *texts) == [True, True, False, False, True, False]


def test_whitespace(synthetic: Llama) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}, "required": ["a"]}
    value = {"a": [1, 2]}
    texts = [
        json.dumps(value),
        json.dumps(value, indent=2),
        json.dumps(value, indent="\t"),
        json.dumps(value, separators=(",", ":")),
        ' {"a":[]}',
    ]
    assert accepted(synthetic, schema, *texts) == [True, True, True, True, False]
    assert accepted(synthetic, schema, *texts, compact=True) == [False, False, False, True, False]


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]
    lives: int = pydantic.Field(ge=1, le=9)


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]
    name: str = pydantic.Field(min_length=1, max_length=4, pattern="^[A-Z]")
    friend: Cat | Dog | None = None


class Home(pydantic.BaseModel):
    pet: Annotated[Cat | Dog, pydantic.Field(discriminator="kind")]
    since: dt.date | None = None
    scores: dict[str, float] = {}


def test_pydantic_models(synthetic: Llama) -> None:
    texts = (
        '{"pet": {"kind": "cat", "lives": 9}, "since": "2024-02-29", "scores": {"a": 1.5}}',
        '{"pet": {"kind": "dog", "name": "Rex", "friend": {"kind": "dog", "name": "A", "friend": null}}, "since": null}',
        '{"pet": {"kind": "cat", "name": "Rex"}}',
        '{"pet": {"kind": "cat", "lives": 10}}',
    )
    assert accepted(synthetic, Home, *texts) == [True, True, False, False]
    for text in texts[:2]:
        Home.model_validate_json(text)
