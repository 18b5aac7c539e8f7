"""What a chat template can take, found out by rendering small conversations with it, once per template.

Templates differ in whether they take the arguments of a call as an object or as JSON text, content that is null, and
content as a list of parts. A caller should not have to know.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .template_environment import KEPT_TEMPLATES, ChatTemplateError, render

_NEEDLE = "n33dl3"
_TOOL = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Looks up",
        "parameters": {"type": "object", "properties": {"key": {"type": "string", "description": "What"}}, "required": ["key"]},
    },
}


@dataclass(frozen=True, kw_only=True)
class TemplateTraits:
    """What a template takes."""

    object_arguments: bool
    null_content: bool
    listed_content: bool
    """Content has to be a list of parts."""
    developer: bool
    """The role `developer` is known."""
    system: bool
    """A system message is no reason to refuse a conversation."""
    tools: bool
    """Tools are shown to the model."""


@lru_cache(maxsize=KEPT_TEMPLATES)
def traits_of(template: str, bos_token: str = "", eos_token: str = "") -> TemplateTraits:
    """The traits of a template."""
    probe = _Probe(template, {"bos_token": bos_token, "eos_token": eos_token})
    listed = not probe.shows(_user(_NEEDLE)) and probe.shows(_user([{"type": "text", "text": _NEEDLE}]))
    return TemplateTraits(
        object_arguments=probe.takes_object_arguments(),
        null_content=probe.takes_null_content(),
        listed_content=listed,
        developer="developer" in template,
        system=probe.takes_system(listed=listed),
        tools=probe.shows_tools(listed=listed),
    )


class _Probe:
    def __init__(self, template: str, tokens: dict[str, str]) -> None:
        self._template = template
        self._tokens = tokens

    def shows(self, *messages: dict[str, Any]) -> bool:
        text = self.text(messages)
        return text is not None and _NEEDLE in text

    @staticmethod
    def content(text: str, listed: bool) -> Any:
        return [{"type": "text", "text": text}] if listed else text

    def takes_system(self, *, listed: bool) -> bool:
        system, user = {"role": "system", "content": self.content("x", listed)}, _user(self.content("x", listed))
        return self.text((system, user)) is not None or self.text((user,)) is None

    def shows_tools(self, *, listed: bool) -> bool:
        text = self.text((_user(self.content("x", listed)),), tools=True)
        return text is None or "look_up" in text

    def takes_object_arguments(self) -> bool:
        """Objects, unless they come out as Python writes them, or don't at all while text does."""
        for content in ("", None, "x"):
            with_object = self.text((_user("x"), _call({"key": _NEEDLE}, content), _result()), tools=True)
            if with_object is not None and _NEEDLE in with_object.replace(_python({"key": _NEEDLE}), ""):
                return True
        for content in ("", None, "x"):
            with_text = self.text((_user("x"), _call(f'{{"key": "{_NEEDLE}"}}', content), _result()), tools=True)
            if with_text is not None and f'"{_NEEDLE}"' in with_text:
                return False
        return True

    def takes_null_content(self) -> bool:
        """Null, unless it fails, or is printed as a word."""
        for arguments in ({"key": "x"}, '{"key": "x"}'):
            null = self.text((_user("x"), _call(arguments, None), _result()), tools=True)
            empty = self.text((_user("x"), _call(arguments, ""), _result()), tools=True)
            if null is not None:
                return null.count("None") <= (empty or "").count("None")
        return False

    def text(self, messages: tuple[dict[str, Any], ...], *, tools: bool = False) -> str | None:
        variables = {"messages": list(messages), "tools": [_TOOL] if tools else None, "documents": None, "add_generation_prompt": True}
        try:
            return render(self._template, {**self._tokens, **variables})
        except ChatTemplateError:
            return None


def _python(value: object) -> str:
    return str(value)


def _user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def _call(arguments: Any, content: str | None) -> dict[str, Any]:
    call = {"id": "call00001", "type": "function", "function": {"name": "look_up", "arguments": arguments}}
    return {"role": "assistant", "content": content, "tool_calls": [call]}


def _result() -> dict[str, Any]:
    return {"role": "tool", "name": "look_up", "tool_call_id": "call00001", "content": "x"}
