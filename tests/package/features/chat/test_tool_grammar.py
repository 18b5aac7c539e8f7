from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._features.chat.output.description import BracedCalls, OutputFormat, ReasoningMarks, TaggedCalls
from llama_cpp._features.chat.output.formats import FORMATS, GENERIC, format_named
from llama_cpp._features.chat.output.parser import OutputParser, whole_message
from llama_cpp._features.chat.tool_choice import tool_parameter_schema
from llama_cpp._features.chat.tool_grammar import ToolConstraint, tool_constraint
from llama_cpp._features.errors import UnsupportedSchemaError
from llama_cpp._features.grammar.gbnf import parse_gbnf

from .sampling import Sampler

ALL = (*FORMATS, GENERIC)
PLAIN: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "unit": {"enum": ["K", "°C"]},
        "days": {"type": "integer"},
        "exact": {"type": "boolean"},
        "places": {"type": "array", "items": {"type": "number"}},
    },
    "required": ["city", "exact"],
}
STRICT: dict[str, Any] = {
    "type": "object",
    "properties": {"code": {"type": "string", "pattern": "^[A-Z]{3}$"}, "at": {"$ref": "#/$defs/point"}},
    "required": ["at"],
    "additionalProperties": False,
    "$defs": {"point": {"type": "object", "properties": {"x": {"type": "number", "minimum": 0}}, "required": ["x"]}},
}


def tool(name: str, parameters: Any = None) -> Any:
    return {"type": "function", "function": {"name": name, **({"parameters": parameters} if parameters is not None else {})}}


TOOLS: list[Any] = [tool("get_weather", PLAIN), tool("now"), tool("do-it.all", {"type": "object", "properties": {"a_b": {"type": "null"}}})]


KEPT: dict[tuple[str, str], ToolConstraint] = {}


def constraint(description: OutputFormat, choice: Any, tools: list[Any] = TOOLS, **options: Any) -> ToolConstraint:
    """The constraint; the same request is answered from memory."""
    key = (description.name, json.dumps([choice, tools, options]))
    if key not in KEPT:
        made = tool_constraint(tools, choice, format=description, **options)
        assert made is not None
        KEPT[key] = made
    return KEPT[key]


@lru_cache
def sampler(grammar: str) -> Sampler:
    return Sampler(parse_gbnf(grammar).tree)


def drawn(made: ToolConstraint, seed: int, *, description: OutputFormat | None = None) -> str:
    """A text that the grammar allows, with a thought where it has the mark that begins thoughts."""
    assert made.grammar is not None
    text = sampler(made.grammar.grammar).text(seed)
    if description is not None and description.reasoning is not None:
        text = text.replace(description.reasoning.start, f"{description.reasoning.start}hm{description.reasoning.end}", 1)
    return text.replace("<|channel|>analysis<|message|>", "<|channel|>analysis<|message|>hm<|end|>")


def read(description: OutputFormat, text: str, tools: list[Any] = TOOLS, **options: Any) -> Mapping[str, Any]:
    parser = OutputParser(description, tools=tools, **options)
    return whole_message([*parser.feed(text), *parser.finish()])


def check_calls(message: Mapping[str, Any], tools: list[Any] = TOOLS) -> list[str]:
    schemas = {each["function"]["name"]: tool_parameter_schema(each["function"]) for each in tools}
    for call in message["tool_calls"]:
        jsonschema.validate(json.loads(call["function"]["arguments"]), schemas[call["function"]["name"]])
    return [call["function"]["name"] for call in message["tool_calls"]]


@given(st.sampled_from(ALL), st.integers(0, 1 << 30))
def test_what_a_required_grammar_allows_are_calls_that_validate(description: OutputFormat, seed: int) -> None:
    text = drawn(constraint(description, "required"), seed, description=description)
    message = read(description, text)
    assert check_calls(message), text
    assert message["content"] is None


@given(st.sampled_from(ALL), st.integers(0, 1 << 30), st.sampled_from(TOOLS))
def test_a_named_tool_is_called_once(description: OutputFormat, seed: int, named: Any) -> None:
    name = named["function"]["name"]
    choices = [name, {"type": "function", "function": {"name": name}}, {"name": name}]
    texts = {drawn(constraint(description, choice), seed, description=description) for choice in choices}
    assert len(texts) == 1
    assert check_calls(read(description, texts.pop())) == [name]


@given(st.sampled_from(ALL), st.integers(0, 1 << 30))
def test_without_parallel_calls_there_is_one(description: OutputFormat, seed: int) -> None:
    text = drawn(constraint(description, "required", parallel=False), seed, description=description)
    assert len(check_calls(read(description, text))) == 1


@pytest.mark.parametrize("description", ALL, ids=lambda row: row.name)
def test_a_lazy_grammar_wakes_where_a_call_begins(description: OutputFormat) -> None:
    made = constraint(description, "auto")
    assert made.lazy
    assert made.grammar is not None
    (trigger,) = made.grammar.triggers
    text = drawn(made, 1)
    before = ">>>" if description.name == "functionary-v3.2" else "" if trigger == r'\A\s*(\{"name": ")' else "Well, "
    before = "<|from|>assistant\n<|recipient|>" if description.name == "functionary-v2" else before
    assert isinstance(trigger, str)
    found = re.search(trigger, before + text)
    assert found is not None
    number = next(number for number in range(1, found.re.groups + 1) if found[number])
    assert found.start(number) == len(before)


def test_a_call_that_is_only_thought_of_wakes_nothing() -> None:
    thinking = OutputFormat(name="t", calls=GENERIC.calls, reasoning=ReasoningMarks(start="<think>", end="</think>"))
    grammar = constraint(thinking, "auto").grammar
    assert grammar is not None
    (trigger,) = map(str, grammar.triggers)
    assert re.search(trigger, "<think>I could <tool_call>") is None
    assert re.search(trigger, "<think>hm</think>\n<tool_call>")
    assert re.search(trigger, "Well\n<tool_call>")
    grammar = constraint(thinking, "auto", reasoning_started=True).grammar
    assert grammar is not None
    (trigger,) = map(str, grammar.triggers)
    assert re.search(trigger, "I could <tool_call>") is None
    assert re.search(trigger, "hm</think>\n<tool_call>")


@given(st.integers(0, 1 << 30), st.booleans())
def test_a_required_call_may_follow_thoughts(seed: int, started: bool) -> None:
    thinking = OutputFormat(name="t", calls=GENERIC.calls, reasoning=ReasoningMarks(start="<think>", end="</think>"))
    text = drawn(constraint(thinking, "required", reasoning_started=started), seed, description=thinking)
    text = f"hm</think>{text}" if started else text
    assert check_calls(read(thinking, text, reasoning_started=started))


@pytest.mark.parametrize("name", ["hermes", "llama-3", "mistral", "kimi-k2", "lfm2", "gpt-oss", "apertus"])
def test_strict_schemas_hold_in_json(name: str) -> None:
    tools = [tool("locate", STRICT)]
    for seed in range(10):
        assert check_calls(read(format_named(name), drawn(constraint(format_named(name), "required", tools), seed), tools), tools)


@pytest.mark.parametrize(
    "row", [row for row in ALL if row.calls and isinstance(row.calls[0].bodies[0], TaggedCalls | BracedCalls)], ids=lambda row: row.name
)
def test_what_a_format_cannot_hold_is_refused_by_name(row: OutputFormat) -> None:
    with pytest.raises(UnsupportedSchemaError, match="pattern"):
        constraint(row, "required", [tool("locate", {"type": "object", "properties": {"code": {"type": "string", "pattern": "a"}}})])
    with pytest.raises(UnsupportedSchemaError, match="anyOf"):
        constraint(row, "required", [tool("locate", {"type": "object", "anyOf": [{"required": ["a"]}]})])


def test_no_tools_no_constraint() -> None:
    assert tool_constraint([], "auto", format=GENERIC) is None
    assert tool_constraint(None, None, format=GENERIC) is None
    assert tool_constraint(TOOLS, "none", format=GENERIC) is None


def test_nothing_of_the_callers_changes() -> None:
    before = json.dumps(TOOLS)
    made = [tool_constraint(TOOLS, "required", format=GENERIC) for _ in range(2)]
    assert made[0] == made[1]
    assert json.dumps(TOOLS) == before
