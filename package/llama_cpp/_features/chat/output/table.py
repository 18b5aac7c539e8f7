"""The formats of models' output met in practice, one row each."""
# ruff: noqa: RUF001 - some control tokens are spelled with a fullwidth bar

from __future__ import annotations

from .description import (
    TOOL_NAME,
    BracedCalls,
    CallForm,
    Channels,
    CodeCalls,
    JsonCalls,
    NamedCalls,
    OutputFormat,
    PythonCalls,
    ReasoningMarks,
)
from .element_formats import ELEMENT_FORMATS

_HERMES = CallForm(opener="<tool_call>", closer="</tool_call>", bodies=(JsonCalls(),), separator="\n", padding="\n", sectioned=True)
_BARE_JSON = CallForm(bodies=(JsonCalls(),))

GENERIC = OutputFormat(name="generic", calls=(_HERMES, _BARE_JSON))
"""For templates that don't say: `<tool_call>` around JSON, or a message that begins with such JSON."""


def _deepseek(*bodies: NamedCalls, separator: str = "") -> CallForm:
    """Calls of DeepSeek's models up to V3.1."""
    return CallForm(
        opener="<｜tool▁calls▁begin｜>",
        closer="<｜tool▁calls▁end｜>",
        call_opener="<｜tool▁call▁begin｜>",
        call_closer="<｜tool▁call▁end｜>",
        bodies=bodies,
        separator=separator,
    )


_TOOL_NAME = rf"(?P<name>{TOOL_NAME})"

FORMATS: tuple[OutputFormat, ...] = (
    *ELEMENT_FORMATS,
    OutputFormat(
        name="gpt-oss",
        signs=(("<|channel|>", "<|message|>", "<|call|>"), ("<|channel|>", "<|constrain|>")),
        channels=Channels(
            openers=("<|start|>assistant", "<|channel|>"),
            header_end="<|message|>",
            recipients=(
                (r"to=(?:functions\.)?" + _TOOL_NAME, "call"),
                (r"\banalysis\b", "reasoning"),
                (r"\b(?:final|commentary)\b", "content"),
            ),
            ends=("<|end|>", "<|call|>", "<|return|>"),
            written_call="<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>",
            written_between="<|call|><|start|>assistant",
            written_thoughts="<|channel|>analysis<|message|>",
            written_content="<|channel|>final<|message|>",
        ),
    ),
    OutputFormat(
        name="functionary-v3.2",
        signs=((">>>all", ">>>"), ("'>>>'", "recipient")),
        channels=Channels(
            openers=(">>>",),
            header_end="\n",
            recipients=((r"^all$", "content"), (f"^{_TOOL_NAME}$", "call")),
            ends=(),
            known_only=True,
            written_call="{name}\n",
            written_between=">>>",
            written_content="all\n",
        ),
    ),
    OutputFormat(
        name="functionary-v2",
        signs=(("<|recipient|>", "<|content|>"),),
        channels=Channels(
            openers=("<|from|>assistant\n<|recipient|>", "<|recipient|>"),
            header_end="\n<|content|>",
            recipients=((r"^\s*all$", "content"), (rf"^\s*{_TOOL_NAME}$", "call")),
            ends=("<|stop|>", "\n<|from|>assistant"),
            written_call="{name}\n<|content|>",
            written_between="\n<|from|>assistant\n<|recipient|>",
            written_content="all\n<|content|>",
        ),
    ),
    OutputFormat(
        name="functionary-v1",
        signs=(("to=functions.",),),
        channels=Channels(
            openers=("\nassistant to=",),
            header_end=":\n",
            recipients=((r"^\s*(?:to=)?functions\." + _TOOL_NAME + "$", "call"), (r"^\s*$", "content")),
            ends=(),
            written_call=" to=functions.{name}:\n",
            written_between="\nassistant",
            written_content=":\n",
        ),
    ),
    OutputFormat(
        name="functionary-v3.1",
        signs=(("<function=", "</function>", "<|eom_id|>"),),
        calls=(
            CallForm(bodies=(NamedCalls(lead="<function=", separator=">", end=("</function>",)),)),
            CallForm(opener="<|python_tag|>", bodies=(CodeCalls(),)),
        ),
    ),
    OutputFormat(
        name="solar",
        signs=(("<|tool_call:begin|>", "<|tool_call:args|>"),),
        calls=(
            CallForm(
                opener="<|tool_calls|>",
                call_opener="<|tool_call:begin|>",
                call_closer="<|tool_call:end|>",
                bodies=(
                    NamedCalls(
                        header=r"(?P<id>[\w.\-]+)<\|tool_call:name\|>" + _TOOL_NAME,
                        written="call{index}<|tool_call:name|>{name}",
                        separator="<|tool_call:args|>",
                    ),
                ),
            ),
        ),
        channels=Channels(
            openers=("<|begin|>assistant",),
            header_end="<|content|>",
            recipients=((r"^$", "content"), (r".", "content")),
            ends=("<|end|>", "<|calls|>"),
            initial=False,
        ),
        reasoning=ReasoningMarks(start="<|think|>", end="<|end|>"),
    ),
    OutputFormat(
        name="kimi-k2",
        signs=(("<|tool_call_argument_begin|>",),),
        calls=(
            CallForm(
                opener="<|tool_calls_section_begin|>",
                closer="<|tool_calls_section_end|>",
                call_opener="<|tool_call_begin|>",
                call_closer="<|tool_call_end|>",
                bodies=(
                    NamedCalls(
                        header=r"(?P<id>(?:functions\.)?(?P<name>[\w.\-/:@]+?)(?::\d+)?)",
                        written="functions.{name}:{index}",
                        separator="<|tool_call_argument_begin|>",
                    ),
                ),
            ),
        ),
    ),
    OutputFormat(
        name="deepseek-r1",
        signs=(("<｜tool▁calls▁begin｜>", "```json"),),
        calls=(
            _deepseek(
                NamedCalls(
                    header=r"function<｜tool▁sep｜>" + _TOOL_NAME,
                    written="function<｜tool▁sep｜>{name}",
                    separator="\n```json\n",
                    end=("```",),
                    padding="\n",
                ),
                NamedCalls(separator="<｜tool▁sep｜>"),
                separator="\n",
            ),
        ),
    ),
    OutputFormat(
        name="deepseek-v3.1",
        signs=(("<｜tool▁calls▁begin｜>",),),
        calls=(_deepseek(NamedCalls(separator="<｜tool▁sep｜>")),),
    ),
    OutputFormat(
        name="mistral",
        signs=(("[TOOL_CALLS]", "[ARGS]"),),
        calls=(
            CallForm(
                opener="[TOOL_CALLS]",
                bodies=(
                    NamedCalls(header=r"(?P<name>[\w.\-/:@]+?)(?:\[CALL_ID\](?P<id>[\w.\-]+))?", separator="[ARGS]"),
                    JsonCalls(listed=True),
                ),
                sectioned=True,
            ),
        ),
        ignored=("[CALL_ID]",),
    ),
    OutputFormat(
        name="mistral-list",
        signs=(("[TOOL_CALLS]",),),
        calls=(CallForm(opener="[TOOL_CALLS]", bodies=(JsonCalls(listed=True),)),),
    ),
    OutputFormat(
        name="lfm2",
        signs=(("<|tool_call_start|>",), ("<|tool_list_start|>",), ("List of tools: ",)),
        calls=(CallForm(opener="<|tool_call_start|>", closer="<|tool_call_end|>", bodies=(PythonCalls(), JsonCalls(listed=True))),),
    ),
    OutputFormat(
        name="minimax-m1",
        signs=(("<tool_calls>", "<end_of_sentence>"),),
        calls=(CallForm(opener="<tool_calls>", closer="</tool_calls>", bodies=(JsonCalls(),), separator="\n", padding="\n"),),
    ),
    OutputFormat(
        name="gemma4",
        signs=(("<|tool_call>", "<tool_call|>"),),
        calls=(CallForm(opener="<|tool_call>", closer="<tool_call|>", bodies=(BracedCalls(lead="call:", quote='<|"|>'),), sectioned=True),),
        ignored=("<turn|>", "<|tool_response>"),
    ),
    OutputFormat(
        name="function-gemma",
        signs=(("<start_function_call>",),),
        calls=(
            CallForm(
                opener="<start_function_call>",
                closer="<end_function_call>",
                bodies=(BracedCalls(lead="call:", quote="<escape>"),),
                sectioned=True,
            ),
        ),
    ),
    OutputFormat(
        name="command-r7b",
        signs=(("<|START_ACTION|>",),),
        calls=(
            CallForm(
                opener="<|START_ACTION|>",
                closer="<|END_ACTION|>",
                bodies=(JsonCalls(name="tool_name", arguments=("parameters",), listed=True),),
            ),
        ),
        ignored=("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"),
    ),
    OutputFormat(
        name="command-r-plus",
        signs=(("Action:", "```json", "tool_name"),),
        calls=(
            CallForm(
                opener="Action:\n```json",
                closer="```",
                bodies=(JsonCalls(name="tool_name", arguments=("parameters",), listed=True),),
            ),
            CallForm(
                opener="Action:```json",
                closer="```",
                bodies=(JsonCalls(name="tool_name", arguments=("parameters",), listed=True),),
            ),
        ),
    ),
    OutputFormat(
        name="firefunction",
        signs=(("functools[",),),
        calls=(CallForm(opener="functools", bodies=(JsonCalls(listed=True),)),),
    ),
    OutputFormat(
        name="apertus",
        signs=(("<|tools_prefix|>",),),
        calls=(CallForm(opener="<|tools_prefix|>", closer="<|tools_suffix|>", bodies=(JsonCalls(keyed=True, listed=True),)),),
    ),
    OutputFormat(
        name="nemotron",
        signs=(("<TOOLCALL>",),),
        calls=(CallForm(opener="<TOOLCALL>", closer="</TOOLCALL>", bodies=(JsonCalls(listed=True),)),),
    ),
    OutputFormat(
        name="apriel",
        signs=(("<tool_calls>", "[BEGIN FINAL RESPONSE]"),),
        calls=(CallForm(opener="<tool_calls>", closer="</tool_calls>", bodies=(JsonCalls(listed=True),)),),
        ignored=("[END FINAL RESPONSE]",),
    ),
    OutputFormat(
        name="gigachat",
        signs=(("<|message_sep|>",), ("<|function_call|>",)),
        calls=(
            CallForm(opener="<|function_call|>", bodies=(JsonCalls(),)),
            CallForm(opener="<|message_sep|>\n\nfunction call<|role_sep|>\n", bodies=(JsonCalls(),)),
            CallForm(opener="function call<|role_sep|>\n", bodies=(JsonCalls(),)),
        ),
        ignored=("<|message_sep|>",),
    ),
    OutputFormat(
        name="granite",
        signs=(("<|tool_call|>",),),
        calls=(CallForm(opener="<|tool_call|>", bodies=(JsonCalls(listed=True),)), _HERMES),
        ignored=("<response>", "</response>"),
    ),
    OutputFormat(name="hermes", signs=(("<tool_call>",),), calls=(_HERMES,)),
    OutputFormat(
        name="llama-3",
        signs=(("<|python_tag|>",), ("<|start_header_id|>", "ipython")),
        calls=(
            CallForm(bodies=(JsonCalls(arguments=("parameters", "arguments")),)),
            CallForm(opener="<|python_tag|>", bodies=(JsonCalls(), PythonCalls(listed=False, suffix=".call"), CodeCalls())),
        ),
    ),
    OutputFormat(
        name="gemma-tool-code",
        signs=(("tool_code",),),
        calls=(CallForm(opener="```tool_code\n", closer="```", bodies=(PythonCalls(listed=False),)),),
    ),
)
"""In the order in which their signs are looked for: the more telling first."""
