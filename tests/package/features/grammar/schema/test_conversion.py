from __future__ import annotations

import copy
import dataclasses
import enum
import json
from typing import Any, Literal

import pytest

from llama_cpp._features.errors import InvalidSchemaError, SchemaError, UnsupportedSchemaError
from llama_cpp._features.grammar.schema import (
    PRIMITIVE_RULES,
    SPACE_RULE,
    STRING_FORMAT_RULES,
    SchemaConverter,
    json_schema_to_gbnf,
    schema_of,
)
from tests.package.features.grammar.recognizer import matches


def first_line(schema: Any) -> str:
    return json_schema_to_gbnf(schema).partition("\n")[0]


def accepted(schema: Any, *texts: str, **options: Any) -> list[bool]:
    grammar = json_schema_to_gbnf(schema, **options)
    return [matches(grammar, text) for text in texts]


@pytest.mark.parametrize("schema", [{}, True, "{}", {"title": "x"}, {"minimum": 1}, {"multipleOf": 2}])
def test_what_leaves_the_type_open_is_a_value(schema: Any) -> None:
    assert first_line(schema) == "root ::= value"


def test_bounds_without_a_type_bind_numbers_only() -> None:
    assert accepted({"minimum": 1}, "0", "1", '"0"', "[0]", "null") == [False, True, True, True, True]


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"minLength": 1}, '"a"', "1"),
        ({"pattern": "a"}, '"xax"', "null"),
        ({"items": {"type": "integer"}}, "[1]", '"a"'),
        ({"required": ["a"]}, '{"a":1}', "[]"),
        ({"type": ["string", "integer"], "minLength": 1}, "5", '""'),
    ],
)
def test_keywords_imply_a_type(schema: Any, good: str, bad: str) -> None:
    assert accepted(schema, good, bad) == [True, False]


def test_fractional_bounds_of_integers_round_inwards() -> None:
    assert accepted({"type": "integer", "minimum": 1.5, "maximum": 3.5}, "1", "2", "3", "4") == [False, True, True, False]


@pytest.mark.parametrize(
    ("schema", "keyword", "pointer"),
    [
        ({"anyOf": []}, "anyOf", "#"),
        ({"oneOf": []}, "oneOf", "#"),
        ({"allOf": []}, "allOf", "#"),
        ({"enum": []}, "enum", "#"),
        ({"type": []}, "type", "#"),
        ({"type": "text"}, "type", "#"),
        ({"minLength": -1}, "minLength", "#"),
        ({"maxItems": True}, "maxItems", "#"),
        ({"properties": {"a": {"minimum": "1"}}}, "minimum", "#/properties/a"),
        ({"properties": {"a/b~": {"multipleOf": 0}}}, "multipleOf", "#/properties/a~1b~0"),
        ({"items": 3}, "items", "#/items"),
        ({"required": "a"}, "required", "#"),
        ({"$ref": "#/$defs/none"}, "$ref", "#"),
        ({"$ref": "#/$defs/a~2", "$defs": {"a~2": {}}}, "$ref", "#"),
        ({"$ref": "#"}, "$ref", "#"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, "$ref", "#/$defs/a"),
        ({"allOf": [{"$ref": "#"}]}, "$ref", "#"),
        ({"anyOf": [{"$ref": "#"}, {"type": "null"}]}, "$ref", "#"),
        ("{", "schema", "#"),
        ('{"const": NaN}', "schema", "#"),
        (3, "schema", "#"),
        ({"type": "object", "properties": {1: {}}}, "properties", "#"),
        ({"type": "object", "properties": {"a": {}}, "required": [[]]}, "required", "#"),
    ],
)
def test_what_is_no_schema_is_refused(schema: Any, keyword: str, pointer: str) -> None:
    with pytest.raises(InvalidSchemaError) as caught:
        json_schema_to_gbnf(schema)
    assert (caught.value.keyword, caught.value.pointer) == (keyword, pointer)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        ({"type": "array", "items": False}, "items"),
        ({"type": "array", "uniqueItems": True}, "uniqueItems"),
        ({"type": "string", "format": "iri"}, "format"),
        ({"type": "string", "pattern": "(?=a)"}, "pattern"),
        ({"$dynamicRef": "#a"}, "$dynamicRef"),
        ({"unevaluatedItems": False}, "unevaluatedItems"),
        ({"$ref": "https://example.org/schema"}, "$ref"),
        ({"type": "object", "minProperties": 3}, "minProperties"),
        ({"not": {"format": "date"}}, "format"),
        ({"allOf": [{"unevaluatedProperties": False}]}, "unevaluatedProperties"),
        ({"type": "integer", "multipleOf": 123457}, "multipleOf"),
        (False, "schema"),
        ({"const": float("nan")}, "number"),
        ({"minimum": 10**2000}, "number"),
        ('{"maximum": 1e999999999}', "number"),
        ('{"enum": [1e999999999]}', "number"),
        ({"type": "string", "enum": [1]}, "schema"),
        ({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}, "schema"),
    ],
)
def test_what_cannot_be_said_is_refused_by_name(schema: Any, keyword: str) -> None:
    with pytest.raises(UnsupportedSchemaError) as caught:
        json_schema_to_gbnf(schema)
    assert caught.value.keyword == keyword


def test_a_schema_is_not_changed_and_converts_the_same_again() -> None:
    schema = {
        "$defs": {"größe": {"type": "integer"}, "gr": {"type": "string", "maxLength": 3}, "g r": {"enum": ["x"]}},
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/größe"}, "b": {"$ref": "#/$defs/gr"}, "c": {"$ref": "#/$defs/g%20r"}},
        "allOf": [{"required": ["a"]}],
    }
    before = copy.deepcopy(schema)
    grammar = json_schema_to_gbnf(schema)
    assert schema == before
    assert grammar == json_schema_to_gbnf(json.dumps(schema))
    assert matches(grammar, '{"a": 1, "b": "xyz", "c": "x"}')


def test_titles_and_descriptions_have_no_influence() -> None:
    plain = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer", "minimum": 3}}}
    told = {
        "title": "T",
        "type": "object",
        "description": "d",
        "properties": {"a": {"type": "string", "title": "A"}, "b": {"type": "integer", "minimum": 3, "default": 4}},
    }
    assert json_schema_to_gbnf(plain) == json_schema_to_gbnf(told)


def test_names_of_rules_are_never_shared() -> None:
    names = ["a b", "a-b", "a_b", "string", "root", "value", "root--m0", "space", "1"]
    schema = {
        "type": "object",
        "properties": {name: {"$ref": f"#/$defs/{number}x"} for number, name in enumerate(names)},
        "$defs": {f"{number}x": {"type": "string", "maxLength": number} for number in range(len(names))},
    }
    for number, name in enumerate(names):
        short, long = (json.dumps({name: "x" * length}) for length in (number, number + 1))
        assert accepted(schema, short, long) == [True, False], name
    deep = {"type": "object", "properties": {name: {"type": "string", "maxLength": number} for number, name in enumerate(names)}}
    assert accepted(deep, '{"a_b": "xx"}', '{"a_b": "xxx"}', '{"string": "xxx"}', '{"string": "xxxx"}') == [True, False, True, False]


def test_orders_of_properties() -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "required": ["z", "b"], "additionalProperties": {"type": "null"}}
    texts = ('{"a":1,"b":2,"c":3,"z":null,"y":null}', '{"b":2,"a":1,"z":null}', '{"b":2,"z":null}', '{"y":null,"b":2,"z":null}')
    assert accepted(schema, *texts) == [True, False, True, False]
    assert accepted(schema, *texts, prop_order=["b"]) == [False, True, True, False]
    assert json_schema_to_gbnf(schema, ["b"]) == json_schema_to_gbnf(schema, {"b": 0})


def test_undeclared_members_are_left_out_unless_asked_for() -> None:
    schema = {"type": "object", "properties": {"a": {}}}
    texts = ('{"a":1}', '{"a":1,"b":2}')
    assert accepted(schema, *texts) == [True, False]
    assert accepted(schema, *texts, open_objects=True) == [True, True]
    assert accepted({**schema, "additionalProperties": True}, *texts) == [True, True]
    assert accepted({**schema, "additionalProperties": False}, *texts, open_objects=True) == [True, False]


def test_no_spelling_of_a_declared_name_is_a_further_one() -> None:
    schema = {"type": "object", "properties": {"a\n": {"type": "integer"}}, "additionalProperties": {"type": "null"}}
    texts = ('{"a\\n":1}', '{"a\\n":null}', '{"\\u0061\\n":null}', '{"a\\u000a":null}', '{"a\\u000A":null}', '{"a":null}', '{"a\\nb":null}')
    assert accepted(schema, *texts) == [True, False, False, False, False, True, True]


def test_references() -> None:
    schema = {
        "$id": "https://example.org/root",
        "type": "array",
        "prefixItems": [
            {"$ref": "#/$defs/a~1b~0c%25"},
            {"$ref": "#here"},
            {"$ref": "other"},
            {"$ref": "https://example.org/root#/$defs/n"},
        ],
        "$defs": {
            "a/b~c%": {"const": 1},
            "anchor": {"$anchor": "here", "const": 2},
            "id": {"$id": "other", "$ref": "#/$defs/x", "$defs": {"x": {"const": 3}}},
            "n": {"const": 4},
            "data": {"const": {"$ref": "#/nowhere"}, "enum": [{"$id": "https://example.org/no"}]},
        },
        "items": {"const": {"$ref": "nowhere"}},
    }
    assert accepted(schema, "[1,2,3,4]", '[1,2,3,4,{"$ref":"nowhere"}]', "[1,2,4]") == [True, True, False]


def test_siblings_of_a_reference_count_except_in_old_drafts() -> None:
    schema = {"$ref": "#/$defs/s", "maxLength": 2, "$defs": {"s": {"type": "string", "minLength": 1}}}
    assert accepted(schema, '""', '"a"', '"abc"') == [False, True, False]
    old = {**schema, "$schema": "http://json-schema.org/draft-07/schema#"}
    assert accepted(old, '""', '"a"', '"abc"') == [False, True, True]


def test_equality_is_that_of_json() -> None:
    assert accepted({"allOf": [{"enum": [1, "a"]}, {"enum": [True, "a", 1.0]}]}, "1", "true", '"a"') == [True, False, True]
    assert accepted({"enum": [0, False]}, "0", "false") == [True, True]
    assert accepted({"type": "boolean", "enum": [0, 1, True]}, "true", "1") == [True, False]


def test_one_of_is_exactly_one() -> None:
    schema = {"oneOf": [{"type": "integer", "minimum": 3}, {"type": "integer", "maximum": 5}]}
    assert accepted(schema, "2", "3", "5", "6") == [True, False, False, True]


def test_discriminated_unions_grow_with_their_size() -> None:
    kinds = [
        {"type": "object", "properties": {"k": {"const": f"k{number}"}, "v": {"type": "integer"}}, "required": ["k"]}
        for number in range(150)
    ]
    texts = ('{"k":"k149","v":1}', '{"k":"k150"}')
    assert accepted({"oneOf": kinds}, *texts) == [True, False]
    assert accepted(
        {"type": "object", "oneOf": [{"$ref": f"#/$defs/{i}"} for i in range(150)], "$defs": {str(i): k for i, k in enumerate(kinds)}},
        *texts,
    ) == [True, False]
    assert accepted({"oneOf": [{"type": "integer"}, {"type": "string"}]}, "1", '"a"', "null") == [True, True, False]


def test_unevaluated_properties_close_what_is_combined() -> None:
    schema = {"type": "object", "properties": {"a": {}}, "allOf": [{"properties": {"b": {}}}], "unevaluatedProperties": False}
    assert accepted(schema, '{"a":1,"b":2}', '{"c":1}', open_objects=True) == [True, False]


def test_older_spellings() -> None:
    assert accepted({"type": "array", "items": [{"type": "integer"}], "additionalItems": False}, "[1]", "[1,2]") == [True, False]
    assert accepted({"type": "number", "minimum": 0, "exclusiveMinimum": True}, "0", "0.1", "1e5") == [False, True, True]
    assert accepted({"type": "string", "nullable": True}, "null", '"a"') == [True, True]
    assert accepted({"type": "object", "properties": {"a": {}, "b": {}}, "dependencies": {"a": ["b"]}}, '{"a":1}', '{"b":1}') == [
        False,
        True,
    ]


def test_dotall_and_raw_patterns() -> None:
    schema = {"type": "string", "pattern": "^a.b$"}
    assert accepted(schema, '"a\\nb"', '"a-b"') == [False, True]
    assert accepted(schema, '"a\\nb"', dotall=True) == [True]
    assert accepted(schema, "a-b", '"a-b"', raw_pattern=True) == [True, False]
    assert accepted({"type": "string"}, '"a"', raw_pattern=True) == [True]


def test_compact_has_no_whitespace() -> None:
    schema = {"type": "object", "properties": {"a": {"const": [1, {"b": 2}]}, "c": {}}, "minProperties": 1}
    assert accepted(schema, '{"a":[1,{"b":2}],"c":[{}]}', '{"a": [1, {"b": 2}]}', compact=True) == [True, False]
    assert accepted(schema, '{"a":[1,{"b":2}]}', '{"a": [1, {"b": 2}]}') == [True, True]


def test_many_members_and_references_need_no_recursion() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {f"p{number}": {"type": "integer"} for number in range(1200)}}
    grammar = json_schema_to_gbnf(schema)
    assert grammar.count("\n") < 2 * 1200 + 10
    assert matches(grammar, '{"p3":1,"p1199":2}')
    chain: dict[str, Any] = {"$ref": "#/$defs/0", "$defs": {str(number): {"$ref": f"#/$defs/{number + 1}"} for number in range(2000)}}
    chain["$defs"]["2000"] = {"type": "null"}
    assert first_line(chain) == "root ::= null"
    nested: dict[str, Any] = {"type": "null"}
    for _ in range(800):
        nested = {"type": "array", "items": nested, "minItems": 1, "maxItems": 2}
    assert json_schema_to_gbnf(nested).count("\n") > 800
    combined: dict[str, Any] = {"type": "null"}
    for _ in range(900):
        combined = {"allOf": [combined]}
    with pytest.raises(UnsupportedSchemaError, match="nested too deeply"):
        json_schema_to_gbnf(combined)


def test_the_converter_keeps_its_options() -> None:
    converter = SchemaConverter(["b"], False, True, False, compact=True)
    schema = {"type": "object", "properties": {"a": {}, "b": {"pattern": "^.$"}}}
    assert converter.convert(schema) == json_schema_to_gbnf(schema, ["b"], dotall=True, compact=True)
    assert converter.convert(schema) == converter.convert(schema)
    assert converter.visit(converter.resolve_refs(schema, "stdin"), "") == "root"
    assert converter.format_grammar() == converter.convert(schema)


def test_rules_that_programs_import() -> None:
    assert {"boolean", "number", "integer", "value", "object", "array", "string", "null"} <= PRIMITIVE_RULES.keys()
    assert {"date", "time", "date-time", "uuid"} <= STRING_FORMAT_RULES.keys()
    assert matches(f"root ::= {STRING_FORMAT_RULES['date'].content}\n", '"2024-02-29"')
    assert not matches(f"root ::= {STRING_FORMAT_RULES['date'].content}\n", '"2023-02-29"')
    text = "".join(f"{name} ::= {rule.content}\n" for name, rule in PRIMITIVE_RULES.items()) + f"space ::= {SPACE_RULE}\nroot ::= value\n"
    assert matches(text, '{"a": [1.5e3, true, null, "\\u00e9"]}')
    assert PRIMITIVE_RULES["string"].deps == ["char"]


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Wheel:
    size: int


@dataclasses.dataclass
class Car:
    name: str
    colour: Colour
    wheels: list[Wheel]
    kind: Literal["car", "van"] = "car"
    owner: str | None = None
    extra: dict[str, float] = dataclasses.field(default_factory=dict)
    place: tuple[int, str] = (0, "")


def test_dataclasses_are_schemas() -> None:
    good = '{"name": "x", "colour": "red", "wheels": [{"size": 3}], "kind": "van", "owner": null, "extra": {"a": 1.5}, "place": [1, "b"]}'
    assert accepted(Car, good, good.replace("red", "green"), '{"name": "x", "colour": "blue", "wheels": []}') == [True, False, True]
    assert schema_of(Car("x", Colour.RED, [])) == schema_of(Car)
    bad = dataclasses.make_dataclass("Bad", [("field", complex)])
    with pytest.raises(UnsupportedSchemaError, match="complex"):
        json_schema_to_gbnf(bad)


def test_models_are_known_by_their_methods() -> None:
    class Model:
        @classmethod
        def model_json_schema(cls) -> dict[str, Any]:
            return {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}

    assert accepted(Model, '{"a": 1}', "{}") == [True, False]


def test_every_error_is_of_one_family() -> None:
    assert issubclass(UnsupportedSchemaError, SchemaError)
    assert issubclass(InvalidSchemaError, SchemaError)
