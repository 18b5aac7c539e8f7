"""Tools in plain text, for models whose template has no place for them: what the generic format of `output.table` reads back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .messages import text_messages
from .output.formats import GENERIC
from .output.writing import WrittenCall, write_calls

if TYPE_CHECKING:
    from .output.description import OutputFormat

_RESULT_START, _RESULT_END = "<tool_response>", "</tool_response>"


def spelled_out(messages: Sequence[Any], tools: Sequence[Mapping[str, Any]], output: OutputFormat) -> list[dict[str, Any]]:
    """The conversation with the tools in its system message, to be called as `output` says.

    Where that is the generic format, calls and results of the conversation become text too.
    """
    turns = text_messages(messages)
    if output.name == GENERIC.name:
        turns = [_turn(message) for message in turns]
    if not tools:
        return turns
    if turns and turns[0]["role"] in ("system", "developer"):
        turns[0]["content"] = f"{turns[0].get('content') or ''}\n\n{_offer(tools, output)}".lstrip()
    else:
        turns.insert(0, {"role": "system", "content": _offer(tools, output)})
    return turns


def uses_tools(messages: Sequence[Any]) -> bool:
    """Whether calls or results are in the conversation already."""
    return any(
        message.get("tool_calls") or message.get("function_call") or message.get("role") in ("tool", "function") for message in messages
    )


def _offer(tools: Sequence[Mapping[str, Any]], output: OutputFormat) -> str:
    listed = "\n".join(json.dumps(tool["function"], ensure_ascii=False) for tool in tools)
    example = write_calls(output, [WrittenCall("function_name", {"argument": "value"})])
    return f"These functions can be called:\n{listed}\nTo call one, answer with its name and its arguments, in this form:\n{example}"


def _turn(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content") or ""
    if message["role"] in ("tool", "function"):
        return {"role": "user", "content": f"{_RESULT_START}\n{content}\n{_RESULT_END}"}
    functions = [call.get("function", call) for call in message.get("tool_calls") or ()]
    if message.get("function_call"):
        functions.append(message["function_call"])
    if not functions:
        return message
    calls = "\n".join(map(_written, functions))
    kept = {name: value for name, value in message.items() if name not in ("tool_calls", "function_call")}
    return {**kept, "content": f"{content}\n{calls}".lstrip()}


def _written(function: Mapping[str, Any]) -> str:
    arguments: Any = function.get("arguments") or {}
    if isinstance(arguments, str):
        with suppress(ValueError):
            arguments = json.loads(arguments)
    return write_calls(GENERIC, [WrittenCall(str(function.get("name")), arguments)])
