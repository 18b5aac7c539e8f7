"""Formats whose calls have one element for each argument, one row each."""
# ruff: noqa: RUF001 - some control tokens are spelled with a fullwidth bar

from __future__ import annotations

from .description import CallForm, Channels, JsonCalls, OutputFormat, ReasoningMarks, TaggedCalls


def _elements(lead: str, parameter: str, *, padding: str = "", end: str = "</function>") -> TaggedCalls:
    """Elements whose names stand behind `=`."""
    return TaggedCalls(
        lead=lead, name_end=">", parameter=parameter, key_end=">", value_end="</parameter>", end=end, padding=padding, between="\n"
    )  # fmt: skip


def _invocations(prefix: str, *, attributes: tuple[str, str] = ("", "")) -> TaggedCalls:
    """`<invoke name="…">` with `<parameter name="…">`, each with a prefix."""
    return TaggedCalls(
        lead=f'<{prefix}invoke name="',
        name_end='">',
        parameter=f'<{prefix}parameter name="',
        key_end='">' if attributes == ("", "") else ">",
        value_end=f"</{prefix}parameter>",
        end=f"</{prefix}invoke>",
        between="\n",
        string_attributes=attributes,
    )


def _pairs(suffix: str = "", *, name_end: str = "") -> TaggedCalls:
    """A bare name, then keys and values in turn."""
    return TaggedCalls(
        name_end=name_end,
        name_stops=("\n", f"<arg_key{suffix}>", f"</tool_call{suffix}>"),
        parameter=f"<arg_key{suffix}>",
        key_end=f"</arg_key{suffix}>",
        value=f"<arg_value{suffix}>",
        value_end=f"</arg_value{suffix}>",
        end="",
        between="\n",
    )


def _dsml(section: str) -> CallForm:
    """Calls of DeepSeek's later models."""
    return CallForm(
        opener=f"<｜DSML｜{section}>",
        closer=f"</｜DSML｜{section}>",
        bodies=(_invocations("｜DSML｜", attributes=('" string="true"', '" string="false"')),),
        separator="\n",
        padding="\n",
    )


ELEMENT_FORMATS: tuple[OutputFormat, ...] = (
    OutputFormat(
        name="kimi-k3",
        signs=(("<|open|>", "<|close|>"),),
        calls=(
            CallForm(
                opener="<|open|>tools<|sep|>",
                closer="<|close|>tools<|sep|>",
                bodies=(
                    TaggedCalls(
                        lead='<|open|>call tool="',
                        name_end="<|sep|>",
                        parameter='<|open|>argument key="',
                        key_end="<|sep|>",
                        value_end="<|close|>argument<|sep|>",
                        end="<|close|>call<|sep|>",
                        string_attributes=('" type="string"', '" type="object"'),
                    ),
                ),
            ),
        ),
        reasoning=ReasoningMarks(start="<|open|>think<|sep|>", end="<|close|>think<|sep|>"),
        ignored=("<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>message<|sep|>"),
    ),
    OutputFormat(name="deepseek-v3.2", signs=(("｜DSML｜", "function_calls"),), calls=(_dsml("function_calls"), _dsml("tool_calls"))),
    OutputFormat(name="deepseek-v4", signs=(("｜DSML｜",),), calls=(_dsml("tool_calls"), _dsml("function_calls"))),
    OutputFormat(
        name="minimax-m2",
        signs=(("<minimax:tool_call>",),),
        calls=(
            CallForm(opener="<minimax:tool_call>", closer="</minimax:tool_call>", bodies=(_invocations(""),), separator="\n", padding="\n"),
        ),
    ),
    OutputFormat(
        name="minimax-m3",
        signs=(("]<]minimax[>[",),),
        calls=(
            CallForm(
                opener="]<]minimax[>[<tool_call>",
                closer="]<]minimax[>[</tool_call>",
                bodies=(
                    TaggedCalls(
                        lead=']<]minimax[>[<invoke name="',
                        name_end='">',
                        parameter="]<]minimax[>[<",
                        key_end=">",
                        value_end="]<]minimax[>[</{key}>",
                        end="]<]minimax[>[</invoke>",
                        nested="]<]minimax[>[",
                    ),
                ),
                separator="\n",
                padding="\n",
            ),
        ),
    ),
    OutputFormat(
        name="muse",
        signs=(("<atem:invoke",),),
        calls=(
            CallForm(
                opener="<atem:function_calls>",
                closer="</atem:function_calls>",
                bodies=(_invocations("atem:"),),
                separator="\n",
                padding="\n",
            ),
        ),
        channels=Channels(
            openers=("<|start|>assistant",),
            header_end="<|message|>",
            recipients=((r"to=self\b", "reasoning"), (r"", "content")),
            ends=("<|eom|>", "<|eot|>"),
            written_content=" to=user<|message|>",
        ),
    ),
    OutputFormat(
        name="seed",
        signs=(("<seed:tool_call>",),),
        calls=(
            CallForm(
                opener="<seed:tool_call>",
                closer="</seed:tool_call>",
                bodies=(_elements("<function=", "<parameter="),),
                separator="\n",
                padding="\n",
                sectioned=True,
            ),
        ),
    ),
    OutputFormat(
        name="qwen3-coder",
        signs=(("<tool_call>", "<function=", "<parameter="),),
        calls=(
            CallForm(
                opener="<tool_call>",
                closer="</tool_call>",
                bodies=(_elements("<function=", "<parameter=", padding="\n"), JsonCalls()),
                separator="\n",
                padding="\n",
                sectioned=True,
            ),
        ),
    ),
    OutputFormat(
        name="minicpm5",
        signs=(("<function name=", "<param name="),),
        calls=(
            CallForm(
                bodies=(
                    TaggedCalls(
                        lead='<function name="',
                        name_end='">',
                        parameter='<param name="',
                        key_end='">',
                        value_end="</param>",
                        end="</function>",
                    ),
                ),
                separator="\n",
            ),
        ),
    ),
    OutputFormat(
        name="hunyuan",
        signs=(("<tool_sep{}>", ":opensource"), ("<tool_sep:opensource>",)),
        reasoning=ReasoningMarks(start="<think:opensource>", end="</think:opensource>"),
        calls=(
            CallForm(
                opener="<tool_calls:opensource>",
                closer="</tool_calls:opensource>",
                call_opener="<tool_call:opensource>",
                call_closer="</tool_call:opensource>",
                bodies=(_pairs(":opensource", name_end="<tool_sep:opensource>"),),
                separator="\n",
                padding="\n",
            ),
        ),
    ),
    OutputFormat(
        name="glm",
        signs=(("<arg_key>", "<arg_value>"),),
        calls=(CallForm(opener="<tool_call>", closer="</tool_call>", bodies=(_pairs(), JsonCalls()), separator="\n", sectioned=True),),
    ),
)
