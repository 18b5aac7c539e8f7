"""The prompts of the functionary models, whose tools are written as TypeScript declarations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llama_cpp._features.chat.formatter import ChatFormatterResponse
from llama_cpp._features.chat.messages import offered_tools, text_messages, with_arguments_as

from .typescript import namespace


def functionary_v1(*, messages: Sequence[Any], add_generation_prompt: bool = True, **kwargs: Any) -> ChatFormatterResponse:
    """Turns behind the name of the role; a call is addressed `to=functions.NAME`."""
    written = [f"system:\n{namespace(tools)}" for tools in (_tools(kwargs),) if tools]
    for message in with_arguments_as(text_messages(messages), objects=False):
        role, content = message["role"], message.get("content") or ""
        if role in ("tool", "function"):
            written.append(f"function name={_name(message, messages)}:\n{content}")
        elif role == "assistant":
            written += [f"assistant:\n{content}"] if content or not _calls(message) else []
            written += [f"assistant to=functions.{call['name']}:\n{call.get('arguments') or '{}'}" for call in _calls(message)]
        else:
            written.append(f"{'system' if role == 'developer' else role}:\n{content}")
    prompt = "\n".join([*written, "assistant" if add_generation_prompt else ""])
    return ChatFormatterResponse(prompt=prompt, stop=["</s>", "\nuser:", "\nfunction name="])


def functionary_v2(*, messages: Sequence[Any], add_generation_prompt: bool = True, **kwargs: Any) -> ChatFormatterResponse:
    """Turns with a sender and a recipient, which is a function's name for a call."""
    written = [_sent("system", "all", namespace(tools)) for tools in (_tools(kwargs),) if tools]
    for message in with_arguments_as(text_messages(messages), objects=False):
        role, content = message["role"], message.get("content") or ""
        if role in ("tool", "function"):
            written.append(_sent(_name(message, messages), "all", content))
        elif role == "assistant":
            written += [_sent("assistant", "all", content)] if content or not _calls(message) else []
            written += [_sent("assistant", call["name"], call.get("arguments") or "{}") for call in _calls(message)]
        else:
            written.append(_sent("system" if role == "developer" else role, "all", content))
    prompt = "".join(written) + ("<|from|>assistant\n<|recipient|>" if add_generation_prompt else "")
    return ChatFormatterResponse(prompt=prompt, stop=["<|stop|>", "\n<|from|>user", "\n<|from|>system"])


def _sent(sender: str, recipient: str, content: str) -> str:
    return f"<|from|>{sender}\n<|recipient|>{recipient}\n<|content|>{content}\n"


def _tools(kwargs: Mapping[str, Any]) -> list[dict[str, Any]]:
    return offered_tools(kwargs.get("tools"), kwargs.get("functions")) or []


def _calls(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    calls = [call.get("function", call) for call in message.get("tool_calls") or ()]
    return [*calls, *([message["function_call"]] if message.get("function_call") else [])]


def _name(result: Mapping[str, Any], messages: Sequence[Any]) -> str:
    """The function whose result this is: named, or found by the id of its call."""
    if result.get("name"):
        return str(result["name"])
    for message in messages:
        for call in message.get("tool_calls") or ():
            if call.get("id") == result.get("tool_call_id"):
                return str(call["function"]["name"])
    raise ValueError(f"a result of tool_call_id {result.get('tool_call_id')!r} has neither a name nor a call before it")
