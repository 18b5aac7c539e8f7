from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._features.chat.output.description import OutputFormat, ReasoningMarks
from llama_cpp._features.chat.output.formats import format_named
from llama_cpp._features.chat.output.parser import OutputParser, whole_message
from llama_cpp._features.chat.response_format import response_constraint, response_schema
from llama_cpp._features.errors import UnsupportedSchemaError
from llama_cpp._features.grammar.gbnf import parse_gbnf

from .sampling import Sampler

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", None]}}, "required": ["a"]}


class Model:
    @staticmethod
    def model_json_schema() -> dict[str, Any]:
        return SCHEMA


FORMS: list[Any] = [
    {"type": "json_object", "schema": SCHEMA},
    {"type": "json_object", "schema": json.dumps(SCHEMA)},
    {"type": "json_object", "schema": Model},
    {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}},
    {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA, "strict": True}},
    {"type": "json_schema", "json_schema": SCHEMA},
    {"type": "json_schema", "schema": SCHEMA},
    Model,
]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_all_shapes_mean_the_same_schema(form: Any) -> None:
    assert response_schema(form) == SCHEMA
    assert response_constraint(form) == response_constraint(FORMS[0])


@pytest.mark.parametrize("form", [None, {"type": "text"}])
def test_text_is_free(form: Any) -> None:
    assert response_constraint(form) is None


@pytest.mark.parametrize("form", [{"type": "json_object"}, {"type": "json_object", "schema": {}}, {"type": "json_object", "schema": None}])
def test_a_json_object_is_any_object(form: Any) -> None:
    assert response_schema(form) == {"type": "object"}


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("json", "a dict"),
        ({}, "type"),
        ({"type": "json"}, "'json'"),
        ({"type": "json_schema"}, "json_schema"),
        ({"type": "json_schema", "json_schema": {"name": "n"}}, "json_schema"),
        ({"type": "json_object", "schema": "{"}, "no JSON"),
        ({"type": "json_object", "schema": 3}, "an object"),
    ],
)
def test_what_makes_no_sense_is_refused(form: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        response_constraint(form)


def test_what_cannot_be_held_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedSchemaError, match=r"\$ref"):
        response_constraint({"type": "json_object", "schema": {"properties": {"a": {"$ref": "https://example.org/a"}}}})


THINKING = OutputFormat(name="t", reasoning=ReasoningMarks(start="<think>", end="</think>"))


@given(
    st.sampled_from([THINKING, format_named("gpt-oss"), format_named("functionary-v3.2"), format_named("generic")]), st.integers(0, 1 << 30)
)
def test_the_answer_is_the_content_of_its_format(description: OutputFormat, seed: int) -> None:
    grammar = response_constraint(FORMS[0], format=description)
    assert grammar is not None
    text = Sampler(parse_gbnf(grammar.grammar).tree).text(seed)
    text = text.replace("<think>", "<think>hm</think>").replace("analysis<|message|>", "analysis<|message|>hm<|end|>")
    parser = OutputParser(description)
    message = whole_message([*parser.feed(text), *parser.finish()])
    assert message["content"] is not None
    jsonschema.validate(json.loads(message["content"]), SCHEMA)
    assert message.get("reasoning_content") in (None, "hm")
