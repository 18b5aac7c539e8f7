"""The named formats: prompts of known conversations, roles, and the guess from a model's file."""

from __future__ import annotations

from typing import Any

import pytest

from llama_cpp._features.chat.formats import constants, registered
from llama_cpp._features.chat.formats.table import FORMATS
from llama_cpp._features.chat.formats.typescript import namespace
from llama_cpp._features.chat.formatter import Jinja2ChatFormatter
from llama_cpp._features.chat.guess import guess_chat_format_from_gguf_metadata, templates_in
from llama_cpp._features.chat.registry import get_chat_completion_handler

NAMES = (
    "llama-2", "llama-3", "llama-4", "alpaca", "qwen", "vicuna", "oasst_llama", "baichuan-2", "baichuan", "openbuddy",
    "redpajama-incite", "snoozy", "phind", "intel", "open-orca", "mistrallite", "zephyr", "pygmalion", "chatml", "mistral-instruct",
    "chatglm3", "openchat", "saiga", "gemma", "functionary", "functionary-v1", "functionary-v2", "chatml-function-calling",
)  # fmt: skip
TURNS = [
    {"role": "system", "content": "S"},
    {"role": "user", "content": "U"},
    {"role": "assistant", "content": "A"},
    {"role": "user", "content": [{"type": "text", "text": "V"}]},
]
PROMPTS = {
    "llama-2": "[INST] <<SYS>>\nS\n<</SYS>>\n\nU [/INST] A </s><s>[INST] V [/INST]",
    "llama-3": (
        "<|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nU<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\nA<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nV<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n"
    ),
    "chatml": (
        "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\nA<|im_end|>\n"
        "<|im_start|>user\nV<|im_end|>\n<|im_start|>assistant\n"
    ),
    "mistral-instruct": "[INST] S\n\nU [/INST] A</s>[INST] V [/INST]",
    "zephyr": "<|system|>\nS</s>\n<|user|>\nU</s>\n<|assistant|>\nA</s>\n<|user|>\nV</s>\n<|assistant|>\n",
    "vicuna": "S USER: U ASSISTANT: A</s>USER: V ASSISTANT:",
    "gemma": (
        "<start_of_turn>user\nS\n\nU<end_of_turn>\n<start_of_turn>model\nA<end_of_turn>\n"
        "<start_of_turn>user\nV<end_of_turn>\n<start_of_turn>model\n"
    ),
    "openchat": (
        "S<|end_of_turn|>GPT4 Correct User: U<|end_of_turn|>GPT4 Correct Assistant: A<|end_of_turn|>"
        "GPT4 Correct User: V<|end_of_turn|>GPT4 Correct Assistant:"
    ),
    "functionary-v2": (
        "<|from|>system\n<|recipient|>all\n<|content|>S\n<|from|>user\n<|recipient|>all\n<|content|>U\n"
        "<|from|>assistant\n<|recipient|>all\n<|content|>A\n<|from|>user\n<|recipient|>all\n<|content|>V\n"
        "<|from|>assistant\n<|recipient|>"
    ),
}
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Where"},
                "units": {"enum": ["C", "F"]},
                "days": {"type": "array", "items": {"type": ["integer", "null"]}},
                "at": {"type": "object", "properties": {"hour": {"anyOf": [{"type": "number"}, {"const": "noon"}]}}},
            },
            "required": ["city"],
        },
    },
}


def formatted(name: str, messages: list[Any], **kwargs: Any) -> Any:
    handler: Any = get_chat_completion_handler(name)
    return handler.formatter(messages=messages, **kwargs)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_makes_a_prompt_that_holds_the_conversation(name: str) -> None:
    answer = formatted(name, TURNS)
    places = [answer.prompt.find(text) for text in ("S", "U", "A", "V")]
    assert min(places) >= 0
    assert answer.prompt.rstrip("\n").rfind("V") < len(answer.prompt)
    assert answer.stop
    assert len(formatted(name, TURNS, add_generation_prompt=False).prompt) <= len(answer.prompt)


@pytest.mark.parametrize("name", PROMPTS)
def test_prompts_of_known_formats(name: str) -> None:
    assert formatted(name, TURNS).prompt == PROMPTS[name]


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_every_row_takes_every_role(row: Any) -> None:
    for role in ("system", "developer", "user", "assistant", "tool", "function"):
        assert "needle" in row.prompt([{"role": role, "content": "needle"}])
    with pytest.raises(ValueError, match="no role 'moderator'"):
        row.prompt([{"role": "moderator", "content": "x"}])


def test_content_is_not_read_as_part_of_the_format() -> None:
    text = "{content} {role} {{ 1 }}"
    assert text in formatted("chatml", [{"role": "user", "content": text}]).prompt


def test_functionary_writes_tools_calls_and_results() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": {"city": "Bern"}}}
    messages = [{"role": "user", "content": "U"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    result = {"role": "tool", "tool_call_id": "1", "content": "warm"}
    first = formatted("functionary-v1", [*messages, result], tools=[TOOL]).prompt
    assert first.startswith("system:\nnamespace functions {")
    assert first.endswith('user:\nU\nassistant to=functions.weather:\n{"city": "Bern"}\nfunction name=weather:\nwarm\nassistant')
    second = formatted("functionary-v2", [*messages, result], tools=[TOOL]).prompt
    assert (
        '<|from|>assistant\n<|recipient|>weather\n<|content|>{"city": "Bern"}\n<|from|>weather\n<|recipient|>all\n<|content|>warm' in second
    )
    with pytest.raises(ValueError, match="tool_call_id '2'"):
        formatted("functionary-v2", [{**result, "tool_call_id": "2"}])


def test_functions_as_typescript() -> None:
    assert namespace([TOOL, {"function": {"name": "stop"}}]) == (
        "namespace functions {\n\n// The weather\ntype weather = (_: {\n// Where\ncity: string,\n"
        'units?: "C" | "F",\ndays?: Array<number | null>,\nat?: {\n  hour?: number | "noon",\n  },\n}) => any;\n\n'
        "type stop = () => any;\n\n} // namespace functions"
    )


@pytest.mark.parametrize("kind", ["CHATML", "MISTRAL_INSTRUCT", "MIXTRAL_INSTRUCT", "LLAMA3_INSTRUCT", "LLAMA4_INSTRUCT", "GPT_OSS"])
def test_the_constants_render(kind: str) -> None:
    template, eos, bos = (getattr(constants, f"{kind}_{what}") for what in ("CHAT_TEMPLATE", "EOS_TOKEN", "BOS_TOKEN"))
    prompt = Jinja2ChatFormatter(template, eos, bos)(messages=TURNS[1:]).prompt
    assert [text in prompt for text in "UAV"] == [True] * 3
    if kind == "CHATML":
        assert prompt == PROMPTS["chatml"].removeprefix("<|im_start|>system\nS<|im_end|>\n")


def test_the_guess_is_by_the_exact_text() -> None:
    known = (
        "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
    )
    assert guess_chat_format_from_gguf_metadata({"tokenizer.chat_template": known}) == "chatml"
    assert guess_chat_format_from_gguf_metadata({"tokenizer.chat_template": known + " "}) is None
    assert guess_chat_format_from_gguf_metadata({}) is None


def test_templates_of_a_file() -> None:
    metadata = {"tokenizer.chat_template": "a", "tokenizer.chat_template.tool_use": "b", "tokenizer.chat_templates": "x"}
    assert templates_in(metadata) == {"default": "a", "tool_use": "b"}
    assert templates_in({}) == {}
    assert registered.FUNCTION_CALLING in NAMES
