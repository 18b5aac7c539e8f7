"""Conversations that chat templates are rendered with, by name: what a template is given, in the shapes that transformers takes."""

from __future__ import annotations

from typing import Any

BOS, EOS = "<s>", "</s>"
NOW = "26 Jul 2024"

WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a place <today> & tomorrow",
        "parameters": {
            "type": "object",
            "properties": {
                "place": {"type": "string", "description": "A town"},
                "days": {"type": "integer", "description": "How many days"},
            },
            "required": ["place"],
        },
    },
}
_ASKED = {"role": "user", "content": "How warm is it in Zürich?"}
ARGUMENTS = {"place": "Zürich", "days": 2}


def called(arguments: Any, content: Any) -> list[dict[str, Any]]:
    """A conversation with a call and its result."""
    call = {"id": "call12345", "type": "function", "function": {"name": "get_weather", "arguments": arguments}}
    return [
        _ASKED,
        {"role": "assistant", "content": content, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call12345", "name": "get_weather", "content": '{"degrees": 21}'},
    ]


CONVERSATIONS: dict[str, dict[str, Any]] = {
    "user": {"messages": [_ASKED], "add_generation_prompt": True},
    "not begun": {"messages": [_ASKED], "add_generation_prompt": False},
    "system": {"messages": [{"role": "system", "content": "Be brief."}, _ASKED], "add_generation_prompt": True},
    "turns": {
        "messages": [
            {"role": "system", "content": "Be brief."},
            _ASKED,
            {"role": "assistant", "content": "  21 degrees. \n"},
            {"role": "user", "content": "And <b>tomorrow</b>?"},
        ],
        "add_generation_prompt": True,
    },
    "not thinking": {"messages": [_ASKED], "add_generation_prompt": True, "enable_thinking": False},
    "documents": {"messages": [_ASKED], "add_generation_prompt": True, "documents": [{"title": "Weather", "text": "It is warm."}]},
    "tools": {"messages": [_ASKED], "add_generation_prompt": True, "tools": [WEATHER]},
}
CALLED: dict[str, dict[str, Any]] = {
    f"{kind} and {content!r}": {"messages": called(arguments, content), "add_generation_prompt": True, "tools": [WEATHER]}
    for kind, arguments in (("object", ARGUMENTS), ("text", '{"place": "Zürich", "days": 2}'))
    for content in (None, "")
}
"""The same call in the shapes that clients send."""
