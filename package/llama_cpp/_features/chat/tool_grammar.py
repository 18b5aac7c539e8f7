"""What tools and `tool_choice` demand of an answer, as a grammar in the format that the model calls tools in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from llama_cpp._features.errors import UnsupportedSchemaError
from llama_cpp._features.grammar.definition import LlamaGrammar
from llama_cpp._features.grammar.tree import Node

from .argument_rules import CallRules
from .output.description import JsonCalls, PythonCalls
from .reasoning_rules import thoughts
from .rule_book import RuleBook, choice, separated, sequence
from .schema_rules import compile_schema
from .tool_choice import ToolRequest, tool_parameter_schema, tool_request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llama_cpp._features.types.tools import ChatCompletionTool

    from .output.description import CallForm, Channels, OutputFormat

__all__ = ["ToolConstraint", "tool_constraint"]


class ToolConstraint(NamedTuple):
    """What an answer has to follow: `grammar` from its start, or where `lazy` from the text that begins a call.

    `prompt_suffix` is put behind the prompt, and belongs to the answer.
    """

    grammar: LlamaGrammar | None
    lazy: bool = False
    prompt_suffix: str = ""


def tool_constraint(
    tools: Sequence[ChatCompletionTool] | None,
    tool_choice: object,
    *,
    parallel: bool = True,
    format: OutputFormat,  # noqa: A002 - what it is
    reasoning_started: bool = False,
) -> ToolConstraint | None:
    """The constraint for a request; None where an answer may be anything.

    A required call may follow thoughts, in the format's own marks; `reasoning_started` says that the prompt ends within
    them. Raises ValueError for choices that make no sense, and where a call is required `UnsupportedSchemaError` for
    schemas that a grammar cannot hold to; calls that are left to the model are not constrained then.
    """
    return constraint_for(tool_request(tools, tool_choice), parallel=parallel, format=format, reasoning_started=reasoning_started)


def constraint_for(
    request: ToolRequest,
    *,
    parallel: bool = True,
    format: OutputFormat,  # noqa: A002 - what it is
    reasoning_started: bool = False,
) -> ToolConstraint | None:
    """As `tool_constraint`, for a request whose arguments have been read."""
    tools = request.callable_tools
    if not tools:
        return None
    book = RuleBook(compile_schema)
    if request.demand == "required":
        calls = _calls(book, format, tools, more=parallel and request.name is None)
        return ToolConstraint(LlamaGrammar(book.text(sequence(thoughts(format, started=reasoning_started), calls))))
    try:
        text = book.text(_calls(book, format, tools, more=parallel))
    except UnsupportedSchemaError:
        return None
    trigger = _outside_thoughts(_trigger(format, tools), format, started=reasoning_started)
    return ToolConstraint(LlamaGrammar(text, triggers=(trigger,)), lazy=True)


def _calls(book: RuleBook, description: OutputFormat, tools: Sequence[ChatCompletionTool], *, more: bool) -> Node:
    rules = {tool["function"]["name"]: CallRules(book, tool["function"]["name"], tool_parameter_schema(tool["function"])) for tool in tools}
    channels = description.channels
    if channels is not None and channels.written_call:
        return _channel_calls(rules, channels, more=more)
    form = description.calls[0]
    body = form.bodies[0]
    one = book.rule("call", choice(sequence(form.call_opener, rule.call(body), form.call_closer) for rule in rules.values()))
    if form.bare:
        return one
    if form.sectioned:
        return separated(_section(form, one), form.separator, more=more)
    listed = isinstance(body, JsonCalls | PythonCalls) and body.listed
    several = separated(one, ", " if listed else form.separator, more=more)
    return _section(form, several)


def _section(form: CallForm, calls: Node) -> Node:
    body = form.bodies[0]
    listed = isinstance(body, JsonCalls | PythonCalls) and body.listed
    inside = sequence("[", calls, "]") if listed else calls
    return sequence(form.opener + form.padding, inside, form.padding + form.closer)


def _channel_calls(rules: dict[str, CallRules], channels: Channels, *, more: bool) -> Node:
    one = choice(sequence(channels.written_call.format(name=name), rule.arguments()) for name, rule in rules.items())
    return separated(one, channels.written_between, more=more)


def _trigger(description: OutputFormat, tools: Sequence[ChatCompletionTool]) -> str:
    """A regular expression with one group: the text with which a call begins, where the grammar begins too."""
    channels = description.channels
    if channels is not None and channels.written_call:
        before, _, after = channels.written_call.partition("{name}")
        names = "|".join(re.escape(tool["function"]["name"] + after) for tool in tools)
        return f"({re.escape(before)})" if before else rf"(?:\A|{re.escape(channels.openers[0])})({names})"
    form = description.calls[0]
    if not form.bare:
        return f"({re.escape(form.opener or form.starts[0])})"
    body = form.bodies[0]
    key = body.name if isinstance(body, JsonCalls) else "name"
    return rf'\A\s*(\{{"{key}": ")'


def _outside_thoughts(trigger: str, description: OutputFormat, *, started: bool) -> str:
    """The trigger, not to be met within thoughts."""
    marks = description.reasoning
    if marks is None or trigger.startswith(r"\A"):
        return trigger
    behind = rf"{re.escape(marks.end)}[\s\S]*?{trigger}"
    return behind if started else rf"\A(?!\s*{re.escape(marks.start.strip())})[\s\S]*?{trigger}|{behind}"
