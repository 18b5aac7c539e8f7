from __future__ import annotations

from typing import Any

import pytest

from llama_cpp._features.chat.tool_choice import tool_parameter_schema, tool_request

A: Any = {"type": "function", "function": {"name": "a"}}
B: Any = {"type": "function", "function": {"name": "b", "parameters": {"type": "object"}}}


@pytest.mark.parametrize(
    ("choice", "demand", "name"),
    [
        (None, "auto", None),
        ("auto", "auto", None),
        ("none", "none", None),
        ("required", "required", None),
        ("any", "required", None),
        ("b", "required", "b"),
        ({"type": "function", "function": {"name": "b"}}, "required", "b"),
        ({"name": "b"}, "required", "b"),
        ({"type": "function", "function": "b"}, "required", "b"),
    ],
)
def test_choices(choice: Any, demand: str, name: str | None) -> None:
    request = tool_request([A, B], choice)
    assert (request.demand, request.name, request.legacy) == (demand, name, False)
    assert request.tools == (A, B)
    assert request.callable_tools == {"none": (), "auto": (A, B), "required": (B,) if name else (A, B)}[demand]


def test_a_tool_may_be_named_like_a_word() -> None:
    named: Any = {"type": "function", "function": {"name": "auto"}}
    assert tool_request([named], "auto").name == "auto"


@pytest.mark.parametrize("call", [None, "auto", "none", {"name": "a"}, "a"])
def test_functions_are_tools_of_the_older_kind(call: Any) -> None:
    request = tool_request(functions=[{"name": "a"}], function_call=call)
    assert request.legacy
    assert request.tools == (A,)
    assert request.demand == {None: "auto", "auto": "auto", "none": "none"}.get(call if not isinstance(call, dict) else "a", "required")


def test_tools_win_over_functions() -> None:
    request = tool_request([B], None, [{"name": "a"}], {"name": "a"})
    assert (request.tools, request.legacy, request.demand) == ((B,), False, "auto")


@pytest.mark.parametrize("choice", [None, "auto", "none"])
def test_no_tools_no_demand(choice: Any) -> None:
    assert tool_request([], choice) == tool_request(None, choice) == tool_request()


@pytest.mark.parametrize(
    ("tools", "choice", "message"),
    [
        ([A], "c", "'auto'"),
        ([A], {"type": "function", "function": {"name": "c"}}, "'c'"),
        ([A], {"type": "function"}, "name a tool"),
        ([A], 3, "name a tool"),
        ([], "required", "no tools"),
        (None, {"name": "a"}, "no tools"),
        ([A, A], "auto", "same name"),
        ([{"type": "function"}], "auto", "a tool is"),
        ([{"type": "function", "function": {"name": ""}}], "auto", "a tool is"),
        ([{"type": "function", "function": {"name": "a b"}}], "auto", "letters"),
        ([{"type": "function", "function": {"name": "a", "parameters": []}}], "auto", "JSON Schema"),
        (["a"], "auto", "a tool is"),
    ],
)
def test_what_makes_no_sense_is_refused(tools: Any, choice: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tool_request(tools, choice)


@pytest.mark.parametrize("parameters", [None, {}])
def test_no_parameters_mean_no_arguments(parameters: Any) -> None:
    assert tool_parameter_schema({"name": "a", "parameters": parameters}) == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


def test_parameters_are_an_object() -> None:
    given = {"properties": {"a": {}}}
    assert tool_parameter_schema({"parameters": given}) == {"type": "object", "properties": {"a": {}}}
    assert given == {"properties": {"a": {}}}
    assert tool_parameter_schema({"parameters": {"$ref": "#/$defs/a"}}) == {"$ref": "#/$defs/a"}
