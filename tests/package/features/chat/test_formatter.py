"""The formatter of Jinja templates: shapes of messages, tools and variables."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._features.chat.formatter import Jinja2ChatFormatter
from llama_cpp._features.chat.template_environment import ChatTemplateError

CHATML = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls or [] %}[{{ c.function.name }} "
    "ARGUMENTS]{% endfor %}</>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)
OBJECTS = CHATML.replace("ARGUMENTS", "{{ c.function.arguments|tojson }}")
TEXTS = CHATML.replace("ARGUMENTS", "{{ c.function.arguments }}")
USER = {"role": "user", "content": "Hi"}


def prompt(template: str, messages: list[Any], **kwargs: Any) -> str:
    return Jinja2ChatFormatter(template, "</s>", "<s>")(messages=messages, **kwargs).prompt


def call(arguments: Any, **content: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        **content,
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": arguments}}],
    }


@given(st.lists(st.text(), max_size=4))
def test_a_list_of_parts_is_its_text(parts: list[str]) -> None:
    listed = [{"role": "user", "content": [{"type": "text", "text": part} for part in parts]}]
    assert prompt(OBJECTS, listed) == prompt(OBJECTS, [{"role": "user", "content": "".join(parts)}])


def test_media_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"messages\[0\].content has a part of type 'image_url'"):
        prompt(OBJECTS, [{"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}])


@pytest.mark.parametrize("template", [OBJECTS, TEXTS])
@pytest.mark.parametrize("arguments", ['{"a": "ü"}', {"a": "ü"}])
@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": ""}])
def test_calls_in_all_their_shapes(template: str, arguments: Any, content: dict[str, Any]) -> None:
    assert prompt(template, [USER, call(arguments, **content)]) == '<user>Hi</><assistant>[f {"a": "ü"}]</><assistant>'


def test_arguments_that_are_no_json_stay_text() -> None:
    assert prompt(TEXTS, [call("not JSON", content="x")]) == "<assistant>x[f not JSON]</><assistant>"


def test_a_template_that_wants_parts_gets_them() -> None:
    template = (
        "{% for m in messages %}{% for part in m.content %}{% if part.type == 'text' %}{{ part.text }}{% endif %}{% endfor %}{% endfor %}"
    )
    assert prompt(template, [USER]) == "Hi"
    assert prompt(template, [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]) == "Hi"


def test_a_system_message_that_a_template_refuses_goes_to_the_user() -> None:
    template = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}" + OBJECTS
    assert prompt(template, [{"role": "system", "content": "Be brief."}, USER]) == "<user>Be brief.\n\nHi</><assistant>"


def test_a_developer_is_a_system_where_the_template_does_not_know_it() -> None:
    message = {"role": "developer", "content": "x"}
    assert prompt(OBJECTS, [message]) == "<system>x</><assistant>"
    assert prompt(OBJECTS + "{# developer #}", [message]) == "<developer>x</><assistant>"


def test_variables_override() -> None:
    template = "{{ bos_token }}{{ eos_token }}{{ pad_token }}{{ enable_thinking }}{{ documents }}{{ tools }}{{ add_generation_prompt }}"
    made = Jinja2ChatFormatter(template, "</s>", "<s>", add_generation_prompt=False, special_tokens_map={"pad_token": {"content": "<pad>"}})
    assert made(messages=[USER]).prompt == "<s></s><pad>NoneNoneFalse"
    assert made(messages=[USER], enable_thinking=True, bos_token="!", add_generation_prompt=True).prompt == "!</s><pad>TrueNoneNoneTrue"  # noqa: S106


def test_tools_without_parameters() -> None:
    template = "{% for t in tools %}{{ t.function.name }} {{ t.function.parameters.properties|length }};{% endfor %}"
    tools: list[Any] = [
        {"function": {"name": name, **rest}} for name, rest in (("a", {}), ("b", {"parameters": None}), ("c", {"parameters": {}}))
    ]
    assert prompt(template, [USER], tools=tools) == "a 0;b 0;c 0;"
    assert "parameters" not in tools[0]["function"]


def test_stops_and_the_criterion() -> None:
    answer = Jinja2ChatFormatter("x", "</s>", "<s>", stop_token_ids=[7])(messages=[])
    assert (answer.stop, answer.added_special) == (["</s>"], True)
    assert answer.stopping_criteria is not None
    (criterion,) = answer.stopping_criteria  # type: ignore[misc]
    assert [criterion(tokens, None) for tokens in ([], [1, 7], [7, 1])] == [False, True, False]
    assert Jinja2ChatFormatter("x", "", "")(messages=[]).stopping_criteria is None


@pytest.mark.parametrize("messages", ["Hi", {"role": "user"}, ["Hi"], [{"content": "x"}], [{"role": "user", "content": 3}]])
def test_what_is_no_conversation(messages: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="messages"):
        prompt(OBJECTS, messages)


def test_the_caller_keeps_its_objects() -> None:
    messages: list[Any] = [{"role": "developer", "content": [{"type": "text", "text": "x"}]}, call('{"a": 1}', content="")]
    before = repr(messages)
    prompt(OBJECTS, messages)
    assert repr(messages) == before


def test_a_broken_template_fails_when_it_is_used() -> None:
    made = Jinja2ChatFormatter("{% for", "", "")
    with pytest.raises(ChatTemplateError):
        made(messages=[USER])
