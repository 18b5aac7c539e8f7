"""Which tools a chat request offers, and whether one has to be called: today's arguments and the older `functions`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .output.description import TOOL_NAME

if TYPE_CHECKING:
    from llama_cpp._features.types.tools import ChatCompletionTool

Demand = Literal["none", "auto", "required"]
_WORDS: Mapping[str, Demand] = {"none": "none", "auto": "auto", "required": "required", "any": "required"}


@dataclass(frozen=True, kw_only=True)
class ToolRequest:
    """The tools that may be called: `tools` is empty where none may.

    `demand` "required" says that a call must be made; a tool asked for by name is then the only one in `callable_tools`.
    `legacy` says that the request used `functions`, and is answered with `function_call`.
    """

    tools: tuple[ChatCompletionTool, ...] = ()
    demand: Demand = "none"
    name: str | None = None
    legacy: bool = False

    @property
    def callable_tools(self) -> tuple[ChatCompletionTool, ...]:
        """What may be called in the answer."""
        if self.demand == "none":
            return ()
        return tuple(tool for tool in self.tools if self.name in (None, tool["function"]["name"]))


def tool_request(
    tools: Sequence[Any] | None = None,
    tool_choice: Any = None,
    functions: Sequence[Any] | None = None,
    function_call: Any = None,
) -> ToolRequest:
    """What the arguments of `create_chat_completion` ask for. ValueError for tools and choices that make no sense."""
    legacy = bool(functions) and not tools
    offered = tuple(
        _tool({"type": "function", "function": each}) if legacy else _tool(each) for each in (functions if legacy else tools) or ()
    )
    names = [tool["function"]["name"] for tool in offered]
    if len(set(names)) != len(names):
        raise ValueError(f"two tools have the same name: {sorted({name for name in names if names.count(name) > 1})}")
    choice = function_call if legacy or (tool_choice is None and not tools) else tool_choice
    if not offered:
        if _name(choice) is not None or (isinstance(choice, str) and _WORDS.get(choice) == "required"):
            raise ValueError(f"tool_choice {choice!r} asks for a call, but there are no tools")
        return ToolRequest()
    if choice is None:
        return ToolRequest(tools=offered, demand="auto", legacy=legacy)
    name = _name(choice, names)
    if name is not None:
        if name not in names:
            raise ValueError(f"tool_choice asks for {name!r}, but the tools are {names}")
        return ToolRequest(tools=offered, demand="required", name=name, legacy=legacy)
    if not isinstance(choice, str) or choice not in _WORDS:
        raise ValueError(f"tool_choice must be 'auto', 'required', 'none', or name a tool, not {choice!r}")
    return ToolRequest(tools=offered, demand=_WORDS[choice], legacy=legacy)


def _name(choice: Any, known: Sequence[str] = ()) -> str | None:
    """The tool that a choice names, in any of the shapes in use; None for the words that name none."""
    if isinstance(choice, str):
        return choice if choice in known else None
    if isinstance(choice, Mapping):
        inner = choice.get("function", choice)
        name = inner.get("name") if isinstance(inner, Mapping) else inner
        if isinstance(name, str):
            return name
    return None


def _tool(tool: Any) -> ChatCompletionTool:
    function = tool.get("function") if isinstance(tool, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str) or not function["name"]:
        raise ValueError(f"a tool is {{'type': 'function', 'function': {{'name': …, 'parameters': …}}}}, not {tool!r}")
    if not re.fullmatch(TOOL_NAME, function["name"]):
        raise ValueError(f"the name of a tool may have letters, digits and _ - . / : @, unlike {function['name']!r}")
    parameters = function.get("parameters")
    if parameters is not None and not isinstance(parameters, Mapping):
        raise ValueError(f"the parameters of tool {function['name']!r} must be a JSON Schema (an object), not {parameters!r}")
    return tool  # type: ignore[no-any-return]


def tool_parameter_schema(function: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a function's arguments, which are always an object; one without parameters takes none."""
    parameters = function.get("parameters")
    if not parameters:
        return {"type": "object", "properties": {}, "additionalProperties": False}
    return dict(parameters) if "type" in parameters or "$ref" in parameters else {"type": "object", **parameters}
