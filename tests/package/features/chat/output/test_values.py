from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._features.chat.output.values import allowed_types, braced_json, element_json, json_of, python_json

EVERY = frozenset({"string", "integer", "number", "boolean", "null", "array", "object"})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"type": "string"}, {"string"}),
        ({"type": ["string", "null"]}, {"string", "null"}),
        ({"enum": ["a", 1, None, True]}, {"string", "integer", "number", "null", "boolean"}),
        ({"const": "a"}, {"string"}),
        ({"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/t~1~0"}]}, {"integer", "array"}),
        ({"$ref": "#/$defs/loop"}, EVERY),
        ({"$ref": "#/nowhere"}, EVERY),
        ({}, EVERY),
        (True, EVERY),
        (None, EVERY),
    ],
)
def test_types_that_a_schema_allows(schema: Any, types: set[str]) -> None:
    root = {"$defs": {"t/~": {"type": "array"}, "loop": {"$ref": "#/$defs/loop"}}}
    assert allowed_types(schema, root) == types


@given(JSON)
def test_json_stays_what_it_is(value: Any) -> None:
    text = json.dumps(value)
    if not isinstance(value, str):
        assert json.loads(json_of(text, EVERY)) == value
    assert json.loads(python_json(text)) == value


@given(JSON.filter(lambda value: not isinstance(value, str)))
def test_python_literals_become_json(value: Any) -> None:
    assert json.loads(python_json(repr(value))) == json.loads(json.dumps(value))


@given(st.text())
def test_text_stays_text_where_text_is_asked_for(text: str) -> None:
    assert json.loads(json_of(text, frozenset({"string"}))) == text
    json.loads(json_of(text, EVERY))
    json.loads(python_json(text))
    json.loads(braced_json(text, "<|>"))


@pytest.mark.parametrize(
    ("text", "types", "value"),
    [
        ("1", {"integer"}, 1), ("1", {"string", "integer"}, 1), ("1.5", {"integer", "string"}, "1.5"), ("true", {"boolean"}, True),
        ("True", {"boolean"}, True), ("None", {"null"}, None), ("yes", {"boolean"}, "yes"), ('"a"', EVERY, '"a"'),
        ("NaN", {"number"}, "NaN"),
        ("{'a': (1, -2)}", {"object"}, {"a": [1, -2]}), ("__import__('os')", EVERY, "__import__('os')"), ("1e999", {"array"}, float("inf")),
    ],
)  # fmt: skip
def test_values(text: str, types: set[str], value: Any) -> None:
    assert json.loads(json_of(text, frozenset(types))) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a:<|>x, }<|>,b:[1,true,<|><|>],c:{}}", {"a": "x, }", "b": [1, True, ""], "c": {}}),
        ("<|>open", "open"), ("word", "word"), ("[", []), ("{a", {"a": ""}), ("null", None), ("{<|>a b<|>:1}", {"a b": 1}),
    ],
)  # fmt: skip
def test_values_with_bare_keys(text: str, value: Any) -> None:
    assert json.loads(braced_json(text, "<|>")) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("@<a>1@</a>@<b>@<item>x y@</item>@<item>@<item>2@</item>@</item>@</b>", {"a": 1, "b": ["x y", [2]]}),
        ("@<item>true@</item>", [True]), ("@<a>open", {}), ("@</a>", {}), ("@<a><b>@</a>", {"a": "<b>"}),
    ],
)  # fmt: skip
def test_nested_elements(text: str, value: Any) -> None:
    assert json.loads(element_json(text, "@")) == value
