"""Calls of tools: constrained where they are required, read back in every format, the same streamed or not."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from rig import material

from llama_cpp import Llama
from llama_cpp.llama_chat_format import Jinja2ChatFormatter

if TYPE_CHECKING:
    from collections.abc import Iterator

WEATHER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 12},
        "unit": {"enum": ["celsius", "fahrenheit"]},
        "days": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["city", "days"],
}
SIMPLE: dict[str, Any] = {
    "type": "object",
    "properties": {"unit": {"enum": ["celsius", "fahrenheit"]}, "exact": {"type": "boolean"}},
    "required": ["unit"],
}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "get_weather", "description": "The weather forecast", "parameters": WEATHER}},
    {"type": "function", "function": {"name": "now"}},
]
SIMPLE_TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "get_unit", "parameters": SIMPLE}},
    {"type": "function", "function": {"name": "now"}},
]
MESSAGES: list[Any] = [{"role": "user", "content": "Will it rain in Paris during the next three days?"}]
NAMED = {"type": "function", "function": {"name": "get_weather"}}
SHORT: dict[str, Any] = {"max_tokens": 500, "parallel_tool_calls": False}

# Texts of which a template of the format has some, and none of another format.
SIGNS = {
    "hermes": "<tool_call>",
    "qwen3-coder": "<tool_call><function=<parameter=",
    "llama-3": "<|python_tag|>",
    "mistral": "[TOOL_CALLS][ARGS]",
    "mistral-list": "[TOOL_CALLS]",
    "functionary-v3.1": "<function=</function><|eom_id|>",
    "functionary-v3.2": ">>>all",
    "gemma4": "<|tool_call><tool_call|>",
    "function-gemma": "<start_function_call>",
    "gemma-tool-code": "tool_code",
    "deepseek-r1": "<\N{FULLWIDTH VERTICAL LINE}tool▁calls▁begin\N{FULLWIDTH VERTICAL LINE}>```json",
    "deepseek-v4": "\N{FULLWIDTH VERTICAL LINE}DSML\N{FULLWIDTH VERTICAL LINE}",
    "gpt-oss": "<|channel|><|message|><|call|>",
    "command-r7b": "<|START_ACTION|>",
    "minimax-m2": "<minimax:tool_call>",
    "kimi-k2": "<|tool_call_argument_begin|>",
    "glm": "<arg_key><arg_value>",
    "lfm2": "<|tool_call_start|>",
    "unknown": "",
}
REGISTERED = ("chatml", "chatml-function-calling", "functionary", "functionary-v1", "functionary-v2", "llama-2", "gemma", "alpaca")


@pytest.fixture(scope="module")
def talker() -> Iterator[Llama]:
    """The synthetic model, whose tokens are short, with room for tools and calls."""
    with closing(Llama(str(material.model(material.SYNTH_LLAMA)), n_ctx=2048, n_threads=1, n_threads_batch=1, verbose=False)) as model:
        yield model


def check(message: Any, tools: list[Any] = TOOLS) -> list[str]:
    """The names of the calls, whose arguments validate."""
    schemas = {tool["function"]["name"]: tool["function"].get("parameters", {"maxProperties": 0}) for tool in tools}
    for call in message["tool_calls"]:
        assert call["type"] == "function"
        jsonschema.validate(json.loads(call["function"]["arguments"]), schemas[call["function"]["name"]])
    assert len({call["id"] for call in message["tool_calls"]}) == len(message["tool_calls"])
    return [call["function"]["name"] for call in message["tool_calls"]]


def rebuilt(chunks: Any) -> tuple[dict[str, Any], str]:
    """The message that the chunks of a stream add up to, ids aside, and the reason of its end."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: list[dict[str, Any]] = []
    reason = ""
    for chunk in chunks:
        (choice,) = chunk["choices"]
        delta, reason = choice["delta"], choice["finish_reason"] or reason
        for key in ("content", "reasoning_content"):
            if delta.get(key) is not None:
                message[key] = (message.get(key) or "") + delta[key]
        for call in delta.get("tool_calls") or ():
            if call["index"] == len(calls):
                assert call["id"]
                calls.append({"type": "function", "function": {"name": call["function"]["name"], "arguments": ""}})
            calls[call["index"]]["function"]["arguments"] += call["function"]["arguments"]
    if calls:
        message["tool_calls"] = calls
    return message, reason


def without_ids(message: Any) -> dict[str, Any]:
    return {**message, "tool_calls": [{key: call[key] for key in ("type", "function")} for call in message["tool_calls"]]}


@pytest.mark.once_per_wheel
def test_a_real_model_calls_what_is_required(smollm2: Llama) -> None:
    for sampling in ({"temperature": 0.0}, {"temperature": 1.0, "seed": 1}):
        (choice,) = smollm2.create_chat_completion(MESSAGES, tools=TOOLS, tool_choice="required", **SHORT, **sampling)["choices"]
        assert len(check(choice["message"])) == 1
        assert (choice["message"]["content"], choice["finish_reason"]) == (None, "tool_calls")
    response = smollm2.create_chat_completion(MESSAGES, tools=TOOLS, tool_choice=NAMED, temperature=0.0, **SHORT)
    (call,) = response["choices"][0]["message"]["tool_calls"]
    assert call["function"]["name"] == "get_weather"
    assert json.loads(call["function"]["arguments"])["city"] == "Paris"


@pytest.mark.once_per_wheel
def test_a_model_with_a_large_vocabulary_calls_what_is_required() -> None:
    with closing(Llama(str(material.model(material.SLIDING_WINDOW)), n_ctx=512, n_threads=2, n_threads_batch=2, verbose=False)) as gemma:
        request: dict[str, Any] = {"tools": TOOLS, "tool_choice": "required", "temperature": 1.0, "seed": 1, **SHORT}
        (choice,) = gemma.create_chat_completion(MESSAGES, **request)["choices"]
        assert len(check(choice["message"])) == 1


@pytest.mark.parametrize("seed", range(2))
def test_a_stream_rebuilds_the_message(talker: Llama, seed: int) -> None:
    request: dict[str, Any] = {"tools": TOOLS, "tool_choice": "required", "temperature": 1.0, "seed": seed, "max_tokens": 700}
    (choice,) = talker.create_chat_completion(MESSAGES, **request)["choices"]
    talker.reset()
    assert rebuilt(talker.create_chat_completion(MESSAGES, stream=True, **request)) == (
        without_ids(choice["message"]),
        choice["finish_reason"],
    )


def in_format(llama: Llama, sign: str, **request: Any) -> Any:
    template = "{% for message in messages %}{{ message.content }}\n{% endfor %}{# SIGN #}".replace("SIGN", sign)
    handler = Jinja2ChatFormatter(template, eos_token="", bos_token="").to_chat_handler()
    return handler(llama=llama, messages=MESSAGES, **request)


def test_every_format_calls_what_is_required(talker: Llama) -> None:
    for name, sign in SIGNS.items():
        (answer,) = in_format(talker, sign, tools=SIMPLE_TOOLS, tool_choice="get_unit", temperature=1.0, seed=4, **SHORT)["choices"]
        assert check(answer["message"], SIMPLE_TOOLS) == ["get_unit"], name
        assert (answer["message"]["content"], answer["finish_reason"]) == (None, "tool_calls"), name


def test_every_chat_format_calls_what_is_required(talker: Llama) -> None:
    request: dict[str, Any] = {"tools": SIMPLE_TOOLS, "tool_choice": "required", "temperature": 1.0, "seed": 3, **SHORT}
    before = talker.chat_format
    try:
        for name in REGISTERED:
            talker.chat_format = name
            (answer,) = talker.create_chat_completion(MESSAGES, **request)["choices"]
            assert check(answer["message"], SIMPLE_TOOLS), name
            assert answer["finish_reason"] == "tool_calls", name
    finally:
        talker.chat_format = before


def test_several_calls_where_they_are_allowed(talker: Llama) -> None:
    request: dict[str, Any] = {"tools": SIMPLE_TOOLS, "tool_choice": "required", "temperature": 1.0, "seed": 1, "ignore_eos": True}
    (answer,) = talker.create_chat_completion(MESSAGES, max_tokens=300, **request)["choices"]
    calls = answer["message"]["tool_calls"]
    assert len(calls) > 1
    assert check({"tool_calls": calls[:-1]}, SIMPLE_TOOLS)
    assert answer["finish_reason"] == "length"


def test_no_call_where_none_is_wanted(talker: Llama) -> None:
    bias = dict.fromkeys(talker.tokenize(b"<tool_call>", add_bos=False)[:1], 100.0)
    response = talker.create_chat_completion(MESSAGES, tools=TOOLS, tool_choice="none", max_tokens=20, temperature=0.0, logit_bias=bias)
    assert "tool_calls" not in response["choices"][0]["message"]
    assert response["choices"][0]["message"]["content"]


def test_a_call_that_the_model_begins_is_held_to_the_schema(talker: Llama) -> None:
    begun = "<tool_call>"
    forced = talker.tokenize(begun.encode(), add_bos=False)
    prompt_length: list[int] = []

    def begin(tokens: Any, logits: Any) -> Any:
        prompt_length[:] = prompt_length or [len(tokens)]
        place = len(tokens) - prompt_length[0]
        if place < len(forced):
            logits[:] = -1e9
            logits[forced[place]] = 0.0
        return logits

    request: dict[str, Any] = {"tools": SIMPLE_TOOLS, "logits_processor": begin, "temperature": 1.0, "seed": 5, "max_tokens": 500}
    (answer,) = talker.create_chat_completion(MESSAGES, **request)["choices"]
    assert check(answer["message"], SIMPLE_TOOLS)
    assert (answer["message"]["content"], answer["finish_reason"]) == (None, "tool_calls")


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_that_is_cut_off_keeps_what_it_has(talker: Llama, stream: bool) -> None:
    request: dict[str, Any] = {"tools": TOOLS, "tool_choice": NAMED, "max_tokens": 34, "temperature": 0.0}
    if stream:
        message, reason = rebuilt(talker.create_chat_completion(MESSAGES, stream=True, **request))
    else:
        (choice,) = talker.create_chat_completion(MESSAGES, **request)["choices"]
        message, reason = dict(choice["message"]), choice["finish_reason"]
    assert reason == "length"
    (call,) = message["tool_calls"]
    assert call["function"]["name"] == "get_weather"
    with pytest.raises(ValueError, match=r"."):
        json.loads(call["function"]["arguments"])


@pytest.mark.parametrize("call", ["get_unit", {"name": "get_unit"}], ids=["word", "object"])
def test_functions_of_the_older_kind(talker: Llama, call: Any) -> None:
    functions = [tool["function"] for tool in SIMPLE_TOOLS]
    request: dict[str, Any] = {"functions": functions, "function_call": call, "temperature": 1.0, "seed": 1, "max_tokens": 500}
    (answer,) = talker.create_chat_completion(MESSAGES, **request)["choices"]
    called = answer["message"]["function_call"]
    assert (called["name"], answer["finish_reason"]) == ("get_unit", "function_call")
    jsonschema.validate(json.loads(called["arguments"]), SIMPLE)
    talker.reset()
    parts = [chunk["choices"][0]["delta"].get("function_call") for chunk in talker.create_chat_completion(MESSAGES, stream=True, **request)]
    assert "".join(part["arguments"] for part in parts if part) == called["arguments"]
    assert next(part for part in parts if part)["name"] == "get_unit"


def test_what_makes_no_sense_is_refused(talker: Llama) -> None:
    with pytest.raises(ValueError, match="get_time"):
        talker.create_chat_completion(MESSAGES, tools=TOOLS, tool_choice={"type": "function", "function": {"name": "get_time"}})
    with pytest.raises(ValueError, match="no tools"):
        talker.create_chat_completion(MESSAGES, tool_choice="required")
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "unevaluatedProperties": {"$dynamicRef": "#a"}}}}
    with pytest.raises(ValueError, match=r"unevaluatedProperties|dynamicRef"):
        talker.create_chat_completion(MESSAGES, tools=[tool], tool_choice="required")


def test_nothing_of_the_callers_changes(talker: Llama) -> None:
    before = json.dumps([TOOLS, MESSAGES])
    talker.create_chat_completion(MESSAGES, tools=TOOLS, max_tokens=2)
    assert json.dumps([TOOLS, MESSAGES]) == before


def test_calls_and_results_may_come_back(talker: Llama) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    messages: list[Any] = [
        *MESSAGES,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "noon"},
    ]
    first = talker.create_chat_completion(messages, tools=TOOLS, max_tokens=4, temperature=0.0)
    call["function"]["arguments"] = {}  # type: ignore[index] - as an object it is the same
    talker.reset()
    second = talker.create_chat_completion(messages, tools=TOOLS, max_tokens=4, temperature=0.0)
    assert first["choices"] == second["choices"]
    assert first["usage"] == second["usage"]
