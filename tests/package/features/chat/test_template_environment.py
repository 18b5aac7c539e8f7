"""The sandbox of chat templates: what templates use, and what they may not."""

from __future__ import annotations

import jinja2
import pytest

from llama_cpp._features.chat.template_environment import ENVIRONMENT, ChatTemplateError, compiled, render
from llama_cpp.errors import LlamaError

DOUBLING = "{% set ns = namespace(s=START) %}{% for i in range(60) %}{% set ns.s = STEP %}{% endfor %}{{ ns.s }}"


def doubling(start: str, step: str) -> str:
    return DOUBLING.replace("START", start).replace("STEP", step)


def test_what_templates_use() -> None:
    text = (
        "{%- for m in messages %}{{ m.role ~ ':' ~ m['content'] }};{% if loop.last %}{% break %}{% endif %}{% endfor %}"
        "{% generation %}{{ 'a' + 'b' }}{% endgeneration %}|"
        "{%- set ns = namespace(n=0) %}{% for k, v in {'x': 1, 'y': 2}|items %}{% set ns.n = ns.n + v %}{% endfor %}{{ ns.n }}|"
        "{%- macro twice(s) %}{{ s }}{{ s }}{% endmacro %}{{ twice('z') }}|"
        "{{- [1, 2]|join(',') }}|{{ '%s-%02d'|format('a', 4) }}|{{ '{}!'.format(3) }}|{{ 'a*b%5d'|string }}|{{ [1, 2]|sum }}|"
        "{{- 'aXa'|replace('a', 'b') }}"
    )
    assert render(text, {"messages": [{"role": "u", "content": "c"}]}) == "u:c;ab|3|zz|1,2|a-04|3!|a*b%5d|3|bXb"


def test_json_is_written_as_json_dumps_writes_it() -> None:
    value = {"b": "<é>", "a": [1, None, True]}
    assert render("{{ v|tojson }}", {"v": value}) == '{"b": "<é>", "a": [1, null, true]}'
    assert render("{{ v|tojson(ensure_ascii=True, sort_keys=True, separators=(',', ':')) }}", {"v": value}) == (
        '{"a":[1,null,true],"b":"<\\u00e9>"}'
    )
    assert render("{{ v|tojson(indent=1) }}", {"v": [1]}) == "[\n 1\n]"


def test_the_time_comes_formatted() -> None:
    assert render("{{ strftime_now('%Y') }}", {}).isdigit()


def test_a_refusal_is_both_kinds_of_error() -> None:
    with pytest.raises(ChatTemplateError, match=r"^only users$") as caught:
        render("{{ raise_exception('only users') }}", {})
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, jinja2.TemplateError)
    assert isinstance(caught.value, LlamaError)


@pytest.mark.parametrize(
    "text",
    [
        "{{ 'a' * 10**9 }}",
        "{{ [1] * 10**9 }}",
        doubling("'a'", "ns.s ~ ns.s"),
        doubling("'a'", "ns.s + ns.s"),
        doubling("[1]", "ns.s + ns.s"),
        doubling("[1]", "[ns.s, ns.s]"),
        doubling("7", "ns.s * ns.s"),
        doubling("'a'", "ns.s.replace('a', 'aa')"),
        doubling("'a'", "[ns.s, ns.s]|join"),
        "{% set ns = namespace(s='a') %}{% for i in range(60) %}{% set ns.s %}{{ ns.s }}{{ ns.s }}{% endset %}{% endfor %}",
        "{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s|tojson }}",
        "{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ 'a' ~ ns.s }}",
        "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
        "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
        "{{ 'x'|center(1000000000) }}",
        "{{ 'x'.ljust(1000000000) }}",
        "{{ '{:1000000000}'.format(1) }}",
        "{{ '%1000000000d' % 3 }}",
        "{{ '%1000000000d'|format(3) }}",
        "{{ 2 ** 1000000000 }}",
        "{{ 1.5|round(1000000000) }}",
        "{{ [1]|batch(1000000000, 1)|list }}",
        "{{ (1).to_bytes(1000000000, 'big') }}",
        "{{ ('x' * 1000000).join([''] * 100000) }}",
        "{{ ([[1] * 90000] * 90000)|sum(start=[]) }}",
        "{{ messages.append(1) }}",
        "{{ messages.__class__.__mro__[1].__subclasses__() }}",
        "{{ nothing.at.all }}",
    ],
)
def test_what_costs_too_much_or_reaches_too_far_is_an_error(text: str) -> None:
    with pytest.raises(ChatTemplateError, match="the chat template"):
        render(text, {"messages": []})


@pytest.mark.parametrize(("text", "match"), [("{% for", "line 1"), ("a\n{{ 1 + }}", "line 2"), ("{{ " + "(" * 5000, "nested|read")])
def test_what_is_no_template_is_an_error(text: str, match: str) -> None:
    with pytest.raises(ChatTemplateError, match=match):
        compiled(text)


def test_a_template_is_compiled_once() -> None:
    assert compiled("{{ a }}") is compiled("{{ a }}")


def test_text_of_the_conversation_is_no_template() -> None:
    assert render("{{ m }}", {"m": "{{ 1 + 1 }} %99999d *"}) == "{{ 1 + 1 }} %99999d *"


def test_nothing_to_generate_nonsense_with() -> None:
    assert "lipsum" not in ENVIRONMENT.globals
