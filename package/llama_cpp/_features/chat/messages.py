"""Chat messages and tools in one shape, whatever shape a caller gave them. The caller's own objects are never changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .tool_choice import tool_parameter_schema

Message = dict[str, Any]


def checked_messages(messages: object) -> list[Message]:
    """Copies of the messages, one level deep; TypeError or ValueError for what is no list of messages."""
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
        raise TypeError(f"messages must be a list of dicts with 'role' and 'content', not {type(messages).__name__}")
    copies: list[Message] = []
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise TypeError(f"messages[{index}] must be a dict with 'role' and 'content', not {type(message).__name__}")
        if not isinstance(message.get("role"), str):
            raise ValueError(f"messages[{index}] has no role")  # noqa: TRY004 - the key is missing
        copies.append(dict(message))
    return copies


def content_text(content: object, place: str = "content") -> str | None:
    """Content as text: the text parts of a list, joined; None where there is none. ValueError for media."""
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, Sequence) or isinstance(content, bytes):
        raise TypeError(f"{place} must be a str, a list of parts or None, not {type(content).__name__}")
    texts: list[str] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping) and isinstance(part.get("text"), str) and part.get("type", "text") in ("text", "input_text"):
            texts.append(part["text"])
        else:
            kind = part.get("type") if isinstance(part, Mapping) else type(part).__name__
            raise ValueError(
                f"{place} has a part of type {kind!r}: this chat format takes text only; a chat_handler for media takes others"
            )
    return "".join(texts)


def text_messages(messages: object) -> list[Message]:
    """The messages with their content as text; a message without content has none afterwards either."""
    copies = checked_messages(messages)
    for index, message in enumerate(copies):
        if "content" in message:
            message["content"] = content_text(message["content"], f"messages[{index}].content")
    return copies


def offered_tools(tools: object, functions: object = None) -> list[dict[str, Any]] | None:
    """Tools of a request, those of the older `functions` among them; each function with a schema of its parameters."""
    if not tools and not functions:
        return None
    given = [*_mappings("tools", tools), *({"type": "function", "function": each} for each in _mappings("functions", functions))]
    return [_tool(tool, index) for index, tool in enumerate(given)]


def with_arguments_as(messages: list[Message], *, objects: bool) -> list[Message]:
    """The messages with the arguments of their calls as objects, or as JSON text. Text that is no JSON object stays."""
    return [_converted(message, objects) for message in messages]


def _converted(message: Message, objects: bool) -> Message:
    changed = dict(message)
    if message.get("tool_calls"):
        changed["tool_calls"] = [_converted_call(call, objects) for call in message["tool_calls"]]
    if isinstance(message.get("function_call"), Mapping):
        changed["function_call"] = _converted_function(message["function_call"], objects)
    return changed


def _converted_call(call: Any, objects: bool) -> Any:
    if not isinstance(call, Mapping):
        return call
    function = call.get("function")
    if isinstance(function, Mapping):
        return {**call, "function": _converted_function(function, objects)}
    return _converted_function(call, objects)


def _converted_function(function: Mapping[str, Any], objects: bool) -> dict[str, Any]:
    arguments = function.get("arguments")
    if objects and isinstance(arguments, str):
        try:
            read = json.loads(arguments) if arguments.strip() else {}
        except ValueError:
            return dict(function)
        return {**function, "arguments": read if isinstance(read, dict) else arguments}
    if not objects and isinstance(arguments, Mapping):
        return {**function, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return dict(function)


def _mappings(name: str, value: object) -> list[Mapping[str, Any]]:
    if not value:
        return []
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence) or not all(isinstance(each, Mapping) for each in value):
        raise TypeError(f"{name} must be a list of dicts")
    return list(value)


def _tool(tool: Mapping[str, Any], index: int) -> dict[str, Any]:
    function = tool.get("function")
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str) or not function["name"]:
        raise ValueError(f"tools[{index}] has no function with a name")
    return {"type": "function", **tool, "function": {**function, "parameters": tool_parameter_schema(function)}}
