"""Calls as a format writes them: what the reader reads, the other way round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .description import Body, BracedCalls, CallForm, CodeCalls, JsonCalls, NamedCalls, PythonCalls, TaggedCalls
from .json_reading import as_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .description import OutputFormat


class WrittenCall(NamedTuple):
    """A call to write."""

    name: str
    arguments: Mapping[str, Any]


def write_calls(description: OutputFormat, calls: Sequence[WrittenCall]) -> str:
    """The text of `calls`, without what may stand around it in a message."""
    channels = description.channels
    if channels is not None and channels.written_call:
        return channels.written_between.join(channels.written_call.format(name=call.name) + as_json(call.arguments) for call in calls)
    form = description.calls[0]
    body = form.bodies[0]
    if form.sectioned:
        return form.separator.join(_section(form, [_one(form, body, call, index)]) for index, call in enumerate(calls))
    return _section(form, [_one(form, body, call, index) for index, call in enumerate(calls)])


def _section(form: CallForm, written: list[str]) -> str:
    body = form.bodies[0]
    listed = isinstance(body, JsonCalls | PythonCalls) and body.listed
    inside = f"[{', '.join(written)}]" if listed else form.separator.join(written)
    return f"{form.opener}{form.padding}{inside}{form.padding}{form.closer}"


def _one(form: CallForm, body: Body, call: WrittenCall, index: int) -> str:
    return f"{form.call_opener}{_body(body, call, index)}{form.call_closer}"


def _body(body: Body, call: WrittenCall, index: int) -> str:  # noqa: PLR0911 - one per kind
    name, arguments = call
    match body:
        case JsonCalls(keyed=True):
            return as_json({name: arguments})
        case JsonCalls():
            return as_json({body.name: name, body.arguments[0]: arguments})
        case NamedCalls():
            end = f"{body.padding}{body.end[0]}" if body.end else ""
            return f"{body.lead}{body.written.format(name=name, index=index)}{body.separator}{as_json(arguments)}{end}"
        case TaggedCalls():
            return _tagged(body, name, arguments)
        case PythonCalls():
            return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
        case BracedCalls():
            return f"{body.lead}{name}{_braced(arguments, body.quote)}"
        case CodeCalls():
            return str(arguments[body.argument])


def _tagged(body: TaggedCalls, name: str, arguments: Mapping[str, Any]) -> str:
    parts = [f"{body.lead}{name}{body.name_end}{body.between}"]
    for key, value in arguments.items():
        is_text = isinstance(value, str)
        gap = body.between if body.value else ""
        head = f"{body.parameter}{key}{body.string_attributes[0 if is_text else 1]}{body.key_end}{gap}{body.value}"
        end = f"{body.padding}{body.value_end.replace('{key}', key)}{body.between}"
        parts.append(f"{head}{body.padding}{value if is_text else as_json(value)}{end}")
    return "".join(parts) + body.end


def _braced(value: object, quote: str) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_braced(each, quote)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_braced(each, quote) for each in value) + "]"
    return f"{quote}{value}{quote}" if isinstance(value, str) else as_json(value)
