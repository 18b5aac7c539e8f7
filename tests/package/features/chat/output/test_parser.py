from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._features.chat.output.description import OutputFormat, PythonCalls, ReasoningMarks, TaggedCalls
from llama_cpp._features.chat.output.formats import FORMATS, GENERIC, format_named
from llama_cpp._features.chat.output.parser import MessageDelta, OutputParser, whole_message
from llama_cpp._features.chat.output.writing import WrittenCall, write_calls

THINK = ReasoningMarks(start="<think>", end="</think>")
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "exact": {"type": "boolean"},
        "options": {"type": "object"},
        "places": {"type": "array", "items": {"type": "string"}},
    },
}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "get_weather", "parameters": PARAMETERS}},
    {"type": "function", "function": {"name": "now"}},
]
WRITABLE = tuple(row for row in (*FORMATS, GENERIC))


def parse(description: OutputFormat, pieces: Iterable[str], **options: Any) -> list[MessageDelta]:
    parser = OutputParser(description, **{"tools": TOOLS, **options})
    deltas = [delta for piece in pieces for delta in parser.feed(piece)]
    deltas += parser.finish()
    assert parser.called_tool == any(delta.tool_calls for delta in deltas)
    return deltas


def message(description: OutputFormat, text: str, **options: Any) -> dict[str, Any]:
    """The message, its calls as pairs of name and arguments text."""
    whole: dict[str, Any] = dict(whole_message(parse(description, [text], **options)))
    whole["tool_calls"] = [(call["function"]["name"], call["function"]["arguments"]) for call in whole.get("tool_calls", [])]
    return whole


def calls_of(description: OutputFormat, text: str, **options: Any) -> list[tuple[str, Any]]:
    return [(name, json.loads(arguments)) for name, arguments in message(description, text, **options)["tool_calls"]]


def anonymous(deltas: Sequence[MessageDelta]) -> dict[str, Any]:
    whole: dict[str, Any] = dict(whole_message(deltas))
    for call in whole.get("tool_calls", []):
        call["id"] = None
    return whole


WORDS = st.text(st.sampled_from("ab zé\n\"'{}[]()<>|/=:,\\_`#7-"), max_size=12)
PLAIN_WORDS = st.text(st.sampled_from("abzé .7\"'"), max_size=12)
NUMBERS = st.integers(-1000, 1000)


def arguments(words: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    options = st.dictionaries(st.sampled_from(["unit", "deep"]), st.one_of(words, NUMBERS, st.booleans(), st.none()), max_size=2)
    values = {"city": words, "days": NUMBERS, "exact": st.booleans(), "options": options, "places": st.lists(words, max_size=2)}
    return st.fixed_dictionaries({}, optional=values)


@st.composite
def written(draw: st.DrawFn) -> tuple[OutputFormat, list[WrittenCall], str]:
    description = draw(st.sampled_from(WRITABLE))
    body = description.calls[0].bodies[0] if description.calls else None
    words = PLAIN_WORDS if isinstance(body, TaggedCalls | PythonCalls) or description.name == "gemma4" else WORDS
    one = st.tuples(st.just("get_weather"), arguments(words)) | st.tuples(st.just("now"), st.just({}))
    calls = [WrittenCall(*call) for call in draw(st.lists(one, min_size=1, max_size=3))]
    return description, calls, write_calls(description, calls)


@st.composite
def split(draw: st.DrawFn, text: str) -> list[str]:
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return [text[begin:end] for begin, end in zip([0, *places], [*places, len(text)], strict=True)]


@given(written())
def test_what_a_format_writes_is_read_back(case: tuple[OutputFormat, list[WrittenCall], str]) -> None:
    description, calls, text = case
    assert calls_of(description, text) == [tuple(call) for call in calls]
    assert message(description, text)["content"] is None


@given(written(), st.data())
def test_deltas_do_not_depend_on_how_the_text_is_split(case: tuple[OutputFormat, list[WrittenCall], str], data: st.DataObject) -> None:
    description, _, text = case
    text = (
        data.draw(st.sampled_from(["", "Well. ", "<tool", "a\n<think>b</think>c\n"]))
        + text
        + data.draw(st.sampled_from(["", "\nSo.", "<|", "]"]))
    )
    text = text[: data.draw(st.integers(0, len(text)))]
    pieces = data.draw(split(text))
    assert anonymous(parse(description, pieces)) == anonymous(parse(description, [text]))
    assert anonymous(parse(description, text)) == anonymous(parse(description, [text]))


MARKS = sorted({part for row in FORMATS for form in row.calls for part in (form.opener, form.closer, *form.starts) if part})
OTHERS = ["<think>", "</think>", "<|channel|>", "<|message|>", "final", " to=functions.now", "{", "}", "[", "]", '"', ":", ",", "\\"]
WHOLE = ['{"name": "now", "arguments": {}}', "now", "[ARGS]", "()", "<parameter=city>", "</parameter>", "x", " ", "\n", "<", ">>>all\n"]
FRAGMENTS = st.lists(st.sampled_from([*MARKS, *OTHERS, *WHOLE]), max_size=10).map("".join)


@given(st.sampled_from(WRITABLE), FRAGMENTS, st.booleans(), st.data())
def test_any_text_gives_one_message_whatever_the_split(row: OutputFormat, text: str, started: bool, data: st.DataObject) -> None:
    pieces = data.draw(split(text))
    options = {"reasoning_started": started and row.reasoning is not None}
    assert anonymous(parse(row, pieces, **options)) == anonymous(parse(row, [text], **options))


@given(st.text(st.sampled_from("ab\n <>tolcinkh_{}[]|/")))
def test_text_without_markers_is_content_to_the_last_character(text: str) -> None:
    whole = message(GENERIC, text)
    assert (whole["content"], whole["tool_calls"]) == (text, [])


@given(st.text())
def test_without_tools_and_thoughts_all_is_content(text: str) -> None:
    assert parse(GENERIC, [text], tools=()) == ([MessageDelta(content=text)] if text else [])


@pytest.mark.parametrize(
    "text", ["<tool_call>", "<tool_call>\n{", '<tool_call>{"nam', "say <tool_call> to call", "a < b <tool", "<tool_call></tool_call>"]
)
def test_what_only_looks_like_a_call_stays_text(text: str) -> None:
    assert message(GENERIC, text) == {"role": "assistant", "content": text, "tool_calls": []}


@pytest.mark.parametrize("row", WRITABLE, ids=lambda row: row.name)
def test_ids_are_stable_and_indexes_count(row: OutputFormat) -> None:
    text = write_calls(row, [WrittenCall("now", {}), WrittenCall("get_weather", {"city": "Bonn"})])
    deltas = [call for delta in parse(row, text) for call in delta.tool_calls]
    first = [call for call in deltas if call.id is not None]
    assert [call.index for call in first] == list(range(len(first)))
    assert [call.name for call in first] == ["now", "get_weather"][: len(first)]
    assert len({call.id for call in first}) == len(first)
    assert all(call.name is None for call in deltas if call.id is None)
    assert sorted(call.index for call in deltas) == [call.index for call in deltas]


@given(written(), st.data())
def test_a_call_that_is_cut_off_keeps_what_it_has(case: tuple[OutputFormat, list[WrittenCall], str], data: st.DataObject) -> None:
    description, calls, text = case
    cut = message(description, text[: data.draw(st.integers(0, len(text)))])["tool_calls"]
    whole = message(description, text)["tool_calls"]
    assert [name for name, _ in cut] == [call.name for call in calls][: len(cut)]
    assert [arguments for _, arguments in cut[:-1]] == [arguments for _, arguments in whole[: max(len(cut) - 1, 0)]]


@pytest.mark.parametrize("written", ["", "{", '{"days": 1'])
def test_arguments_that_are_cut_off_are_not_completed(written: str) -> None:
    assert message(GENERIC, '<tool_call>{"name": "get_weather", "arguments": ' + written)["tool_calls"] == [("get_weather", written)]


def test_arguments_are_streamed_while_they_are_written() -> None:
    parser = OutputParser(format_named("hermes"), tools=TOOLS)
    parser.feed('<tool_call>\n{"name": "get_weather", "arguments": {"ci')
    assert [call.arguments for delta in parser.feed('ty": "Bo') for call in delta.tool_calls] == ['ty": "Bo']


def test_text_arguments_of_elements_are_streamed_too() -> None:
    parser = OutputParser(format_named("qwen3-coder"), tools=TOOLS)
    parser.feed("<tool_call>\n<function=get_weather>\n<parameter=city>\nBo")
    assert [call.arguments for delta in parser.feed('n"n') for call in delta.tool_calls] == ['n\\"n']


def test_only_one_call_without_parallel_calls() -> None:
    text = write_calls(GENERIC, [WrittenCall("now", {}), WrittenCall("get_weather", {"days": 2})])
    assert calls_of(GENERIC, text, parallel=False) == [("now", {})]


def test_content_stands_around_calls() -> None:
    call = write_calls(GENERIC, [WrittenCall("now", {})])
    assert message(GENERIC, f"Let me see.\n\n{call}\nThere.")["content"] == "Let me see.\n\nThere."
    assert message(GENERIC, f"\n {call} \n")["content"] is None


@pytest.mark.parametrize(
    ("text", "started", "reasoning", "content"),
    [
        ("<think>\nhm\n</think>\n\nYes.", False, "hm", "Yes."),
        ("hm\n</think>Yes. ", True, "hm", "Yes. "),
        ("hm", True, "hm", ""),
        ("<think></think>Yes", False, None, "Yes"),
        ("<think>a</think>b<think>c</think>d", False, "a\n\nc", "b\n\nd"),
        ("no <thin king", False, None, "no <thin king"),
        ('<think>{"name": "now"} <tool_call></think>Yes', False, '{"name": "now"} <tool_call>', "Yes"),
    ],
)
def test_thoughts_are_separated(text: str, started: bool, reasoning: str | None, content: str) -> None:
    row = OutputFormat(name="thinking", calls=GENERIC.calls, reasoning=THINK)
    for pieces in ([text], list(text)):
        whole = whole_message(parse(row, pieces, reasoning_started=started))
        assert (whole.get("reasoning_content"), whole["content"]) == (reasoning, content)


def test_a_bare_call_may_follow_thoughts() -> None:
    row = OutputFormat(name="thinking", calls=GENERIC.calls, reasoning=THINK)
    assert calls_of(row, 'hm</think>\n{"name": "now", "arguments": {}}', reasoning_started=True) == [("now", {})]


CHANNELS = (
    "<|channel|>analysis<|message|>Let me think.<|end|><|start|>assistant<|channel|>commentary<|message|>I look.<|end|>"
    '<|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Bonn"}<|call|>'
)


def test_channels_of_gpt_oss() -> None:
    assert message(format_named("gpt-oss"), CHANNELS) == {
        "role": "assistant",
        "content": "I look.",
        "reasoning_content": "Let me think.",
        "tool_calls": [("get_weather", '{"city": "Bonn"}')],
    }
    other = "<|start|>assistant to=functions.now<|channel|>commentary json<|message|>{}<|call|>"
    assert calls_of(format_named("gpt-oss"), other) == [("now", {})]
    assert message(format_named("gpt-oss"), "<|channel|>final<|message|>Hello<|return|>", tools=())["content"] == "Hello"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("llama-3", '{"name": "get_weather", "parameters": {"city": "Bonn"}}', [("get_weather", {"city": "Bonn"})]),
        ("llama-3", '{"type": "function", "name": "now", "parameters": {}}; {"name": "now", "parameters": {}}', [("now", {})] * 2),
        ("llama-3", '<|python_tag|>get_weather.call(city="Bonn", days=-2)', [("get_weather", {"city": "Bonn", "days": -2})]),
        ("llama-3", '{"type": "function", "function": {"name": "now", "parameters": {}}}', [("now", {})]),
        ("generic", '{"arguments": {"days": 1}, "name": "get_weather"}', [("get_weather", {"days": 1})]),
        ("generic", '<tool_call>{"name": "get_weather", "arguments": "{\\"days\\": 1}"}</tool_call>', [("get_weather", {"days": 1})]),
        ("generic", '<tool_call>{"name": "now", "arguments": null}</tool_call>', [("now", {})]),
        ("generic", '<tool_call>{"arguments": "", "name": "now"}</tool_call>', [("now", {})]),
        ("generic", '<tool_call>[{"name": "now"}, {"name": "now", "arguments": {}}]</tool_call>', [("now", {})] * 2),
        ("mistral", '[TOOL_CALLS][{"name": "now", "arguments": {}, "id": "abcdefghi"}]', [("now", {})]),
        ("mistral", "[TOOL_CALLS]now[CALL_ID]abcdefghi[ARGS]{}[TOOL_CALLS]now[ARGS]{}", [("now", {})] * 2),
        ("glm", "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Bonn</arg_value></tool_call>",
         [("get_weather", {"city": "Bonn"})]),
        ("seed", "<seed:tool_call><function=get_weather><parameter=options>{'a': None}</parameter></function></seed:tool_call>",
         [("get_weather", {"options": {"a": None}})]),
        ("lfm2", '<|tool_call_start|>[get_weather(city="Bonn", options={"a": [true, null]}), now()]<|tool_call_end|>',
         [("get_weather", {"city": "Bonn", "options": {"a": [True, None]}}), ("now", {})]),
        ("lfm2", "<|tool_call_start|>[get_weather('Bonn', 3)]<|tool_call_end|>", [("get_weather", {"city": "Bonn", "days": 3})]),
        ("gemma-tool-code", "```tool_code\nget_weather(city='Bonn')\n```", [("get_weather", {"city": "Bonn"})]),
        ("function-gemma", "<start_function_call>call:get_weather{city:<escape>Bonn, {<escape>,days:3}<end_function_call>",
         [("get_weather", {"city": "Bonn, {", "days": 3})]),
        ("minicpm5", '<function name="get_weather"><param name="city"><![CDATA[<b>]]></param><param name="days">3</param></function>',
         [("get_weather", {"city": "<b>", "days": 3})]),
        ("functionary-v3.2", 'all\nLet me see.>>>get_weather\n{"city": "Bonn"}>>>now\n{}',
         [("get_weather", {"city": "Bonn"}), ("now", {})]),
        ("functionary-v2", 'get_weather\n<|content|>{"city": "Bonn"}<|stop|>', [("get_weather", {"city": "Bonn"})]),
        ("functionary-v1", ' to=functions.get_weather:\n{"city": "Bonn"}', [("get_weather", {"city": "Bonn"})]),
        ("kimi-k2", "<|tool_calls_section_begin|><|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
         [("now", {})]),
    ],
)  # fmt: skip
def test_ways_to_write_calls(name: str, text: str, expected: list[tuple[str, Any]]) -> None:
    assert calls_of(format_named(name), text) == expected


def test_a_models_own_ids_are_kept() -> None:
    deltas = parse(format_named("mistral"), ["[TOOL_CALLS]now[CALL_ID]abcdefghi[ARGS]{}"])
    assert [call.id for delta in deltas for call in delta.tool_calls] == ["abcdefghi"]


def test_json_that_is_an_answer_is_content() -> None:
    for text in ('{"answer": 42}', '{"name": "nobody", "parameters": {}}', "[1, 2]"):
        assert message(format_named("llama-3"), text) == {"role": "assistant", "content": text, "tool_calls": []}


def test_code_is_a_call_where_a_tool_takes_it() -> None:
    python: list[Any] = [{"type": "function", "function": {"name": "python"}}]
    assert calls_of(format_named("llama-3"), '<|python_tag|>print("hi")', tools=python) == [("python", {"code": 'print("hi")'})]
    assert message(format_named("llama-3"), '<|python_tag|>print("hi")')["content"] == '<|python_tag|>print("hi")'


def test_what_closes_an_element_may_stand_in_its_json() -> None:
    text = '<tool_call><function=get_weather><parameter=options>{"a": "</parameter>"}</parameter></function></tool_call>'
    assert calls_of(format_named("qwen3-coder"), text) == [("get_weather", {"options": {"a": "</parameter>"}})]


def test_elements_take_the_types_of_the_schema() -> None:
    tools: list[Any] = [
        {"type": "function", "function": {"name": "f", "parameters": {"properties": {
            "text": {"type": "string"}, "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "named": {"$ref": "#/$defs/text"}, "unknown": {}, "choice": {"enum": ["1", "2"]},
        }, "$defs": {"text": {"type": "string"}}}}}
    ]  # fmt: skip
    values = {"text": "1", "either": "1", "named": "true", "unknown": "null", "choice": "1", "other": "x"}
    written = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in values.items())
    text = f"<tool_call>\n<function=f>\n{written}</function>\n</tool_call>"
    expected = {"text": "1", "either": 1, "named": "true", "unknown": None, "choice": "1", "other": "x"}
    assert calls_of(format_named("qwen3-coder"), text, tools=tools) == [("f", expected)]
