from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from llama_cpp._features.chat.formatter import Jinja2ChatFormatter
from llama_cpp._features.chat.output.description import NamedCalls, OutputFormat, ReasoningMarks
from llama_cpp._features.chat.output.formats import FORMATS, GENERIC, detect_format, format_named
from llama_cpp._features.chat.output.parser import OutputParser, whole_message

TEMPLATES = Path(__file__).parents[5] / "vendor" / "llama.cpp" / "models" / "templates"
populated = pytest.mark.skipif(not TEMPLATES.is_dir(), reason="vendor/llama.cpp is not populated")

DETECTED: dict[str, tuple[str, str | None]] = {
    "Apertus-8B-Instruct": ("apertus", "<|inner_suffix|>"),
    "Apriel-1.6-15b-Thinker-fixed": ("apriel", "[BEGIN FINAL RESPONSE]"),
    "Bielik-11B-v3.0-Instruct": ("hermes", "</think>"),
    "ByteDance-Seed-OSS": ("seed", "</seed:think>"),
    "Cohere2MoE": ("command-r7b", "<|END_THINKING|>"),
    "CohereForAI-c4ai-command-r-plus-tool_use": ("command-r-plus", None),
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use": ("command-r7b", "<|END_THINKING|>"),
    "GLM-4.6": ("glm", "</think>"),
    "GLM-4.7-Flash": ("glm", "</think>"),
    "GigaChat3-10B-A1.8B": ("gigachat", None),
    "GigaChat3.1-10B-A1.8B": ("gigachat", None),
    "HuggingFaceTB-SmolLM3-3B": ("generic", "</think>"),
    "Kimi-K2-Instruct": ("kimi-k2", None),
    "Kimi-K2-Thinking": ("kimi-k2", "</think>"),
    "Kimi-K3": ("kimi-k3", "<|close|>think<|sep|>"),
    "LFM2-8B-A1B": ("lfm2", None),
    "LFM2.5-8B-A1B": ("lfm2", "</think>"),
    "LFM2.5-Instruct": ("lfm2", "</think>"),
    "MiMo-VL": ("hermes", None),
    "MiniMax-M1": ("minimax-m1", None),
    "MiniMax-M2": ("minimax-m2", "</think>"),
    "MiniMax-M3": ("minimax-m3", "</mm:think>"),
    "Mistral-Small-3.2-24B-Instruct-2506": ("mistral", None),
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": ("qwen3-coder", "</think>"),
    "NVIDIA-Nemotron-Nano-v2": ("nemotron", "</think>"),
    "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use": ("hermes", None),
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use": ("hermes", None),
    "Qwen-QwQ-32B": ("hermes", "</think>"),
    "Qwen-Qwen2.5-7B-Instruct": ("hermes", None),
    "Qwen-Qwen3-0.6B": ("hermes", "</think>"),
    "Qwen3-Coder": ("qwen3-coder", None),
    "Qwen3.5-4B": ("qwen3-coder", "</think>"),
    "Reka-Edge": ("hermes", "</think>"),
    "Spark2.5": ("glm", "</think>"),
    "StepFun3.5-Flash": ("qwen3-coder", "</think>"),
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B": ("deepseek-r1", "</think>"),
    "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B": ("deepseek-r1", "</think>"),
    "deepseek-ai-DeepSeek-V3.1": ("deepseek-v3.1", "</think>"),
    "deepseek-ai-DeepSeek-V3.2": ("deepseek-v3.2", "</think>"),
    "deepseek-ai-DeepSeek-V4-Flash-0731": ("deepseek-v4", "</think>"),
    "deepseek-ai-DeepSeek-V4": ("deepseek-v4", "</think>"),
    "fireworks-ai-llama-3-firefunction-v2": ("firefunction", None),
    "google-gemma-2-2b-it": ("generic", None),
    "google-gemma-4-31B-it-interleaved": ("gemma4", "<channel|>"),
    "google-gemma-4-31B-it": ("gemma4", "<channel|>"),
    "ibm-granite-granite-3.3-2B-Instruct": ("granite", "</think>"),
    "ibm-granite-granite-4.0": ("hermes", None),
    "ibm-granite-granite-4.1": ("hermes", None),
    "inclusionai-ling-3.0-flash": ("glm", "</think>"),
    "llama-cpp-deepseek-r1": ("deepseek-r1", "</think>"),
    "llama-cpp-rwkv-world": ("generic", "</think>"),
    "meetkai-functionary-medium-v3.1": ("functionary-v3.1", None),
    "meetkai-functionary-medium-v3.2": ("functionary-v3.2", None),
    "meta-llama-Llama-3.1-8B-Instruct": ("llama-3", None),
    "meta-llama-Llama-3.2-3B-Instruct": ("llama-3", None),
    "meta-llama-Llama-3.3-70B-Instruct": ("llama-3", None),
    "microsoft-Phi-3.5-mini-instruct": ("generic", None),
    "mistralai-Ministral-3-14B-Reasoning-2512": ("mistral", "[/THINK]"),
    "mistralai-Mistral-Nemo-Instruct-2407": ("mistral-list", None),
    "moonshotai-Kimi-K2": ("kimi-k2", None),
    "muse-glimmer": ("muse", None),
    "openai-gpt-oss-120b": ("gpt-oss", None),
    "openbmb-MiniCPM5-1B": ("minicpm5", "</think>"),
    "poolside-Laguna-S-2.1": ("glm", "</think>"),
    "poolside-Laguna-XS-2.1": ("glm", "</think>"),
    "poolside-Laguna-XS.2": ("glm", "</think>"),
    "tencent-Hy3": ("hunyuan", "</think:opensource>"),
    "unsloth-Apriel-1.5": ("apriel", "[BEGIN FINAL RESPONSE]"),
    "unsloth-mistral-Devstral-Small-2507": ("mistral", None),
    "upstage-Solar-Open-100B": ("solar", "<|end|>"),
}  # fmt: skip
"""Of each template: the format, and the mark that ends thoughts."""

CALLS_NOT_WRITTEN = {
    "HuggingFaceTB-SmolLM3-3B", "LFM2-8B-A1B", "LFM2.5-Instruct", "deepseek-ai-DeepSeek-R1-Distill-Llama-8B", "google-gemma-2-2b-it",
    "ibm-granite-granite-3.3-2B-Instruct", "llama-cpp-rwkv-world", "microsoft-Phi-3.5-mini-instruct", "NVIDIA-Nemotron-Nano-v2",
    "fireworks-ai-llama-3-firefunction-v2", "CohereForAI-c4ai-command-r-plus-tool_use",
    "Kimi-K2-Instruct", "Kimi-K2-Thinking", "llama-cpp-deepseek-r1",
}  # fmt: skip
"""Templates that drop the calls of an earlier answer, take them in a shape of their own, or do not run in a sandbox."""

ARGUMENTS: dict[str, Any] = {"city": 'New "Y" <b>', "days": 3, "options": {"a": [1, None, True]}}
PROPERTIES = {"city": {"type": "string"}, "days": {"type": "integer"}, "options": {"type": "object"}}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "get_weather", "description": "The weather", "parameters": {
        "type": "object", "properties": {key: {**schema, "description": "?"} for key, schema in PROPERTIES.items()}, "required": ["city"],
    }}},
]  # fmt: skip


def template(name: str) -> str:
    return (TEMPLATES / f"{name}.jinja").read_text(encoding="utf-8")


def answer_of(name: str, message: dict[str, Any]) -> str:
    """What the template writes for an answer, and no more of the prompt than can be told apart."""
    formatter = Jinja2ChatFormatter(template(name), "<eos>", "<bos>")
    question = {"role": "user", "content": "What will the weather be?"}
    prompt = formatter(messages=[question], tools=TOOLS).prompt
    whole = formatter(messages=[question, message], tools=TOOLS, add_generation_prompt=False).prompt
    begin = next(place for place, (one, other) in enumerate(zip(prompt + "\0", whole, strict=False)) if one != other)
    opened = max(whole.rfind("<", 0, begin), whole.rfind("[", 0, begin))
    return whole[begin if ">" in whole[opened:begin] else opened :]


@populated
def test_every_template_of_the_vendored_tree_is_told_apart() -> None:
    found = {}
    for path in TEMPLATES.glob("*.jinja"):
        described = detect_format(path.read_text(encoding="utf-8"))
        found[path.stem] = (described.name, described.reasoning.end if described.reasoning else None)
    assert found == DETECTED


@populated
@pytest.mark.parametrize("name", sorted(set(DETECTED) - CALLS_NOT_WRITTEN))
def test_a_call_that_a_template_writes_is_read_back(name: str) -> None:
    call = {"id": "123456789", "type": "function", "function": {"name": "get_weather", "arguments": json.dumps(ARGUMENTS)}}
    text = answer_of(name, {"role": "assistant", "content": "", "tool_calls": [call]})
    described = detect_format(template(name))
    for pieces in ([text], list(text)):
        parser = OutputParser(described, tools=TOOLS)
        message = whole_message([*(delta for piece in pieces for delta in parser.feed(piece)), *parser.finish()])
        (call_read,) = message["tool_calls"]
        assert call_read["function"]["name"] == "get_weather"
        null = "" if name == "MiniMax-M3" else None  # which writes null as nothing
        assert json.loads(call_read["function"]["arguments"]) == {**ARGUMENTS, "options": {"a": [1, null, True]}}
        assert "get_weather" not in (message["content"] or "")


@pytest.mark.parametrize("text", [None, "", "{% for message in messages %}{{ message.content }}{% endfor %}", "<tools>"])
def test_a_template_that_does_not_tell_is_generic(text: str | None) -> None:
    assert detect_format(text) == GENERIC


def test_thoughts_are_looked_for_where_a_template_mentions_their_marks() -> None:
    assert detect_format("{{ '<think>' }} <tool_call>") == OutputFormat(
        name="hermes", signs=(("<tool_call>",),), calls=GENERIC.calls[:1], reasoning=ReasoningMarks(start="<think>", end="</think>")
    )
    assert detect_format("x").reasoning is None


def test_names_are_unique_and_signs_are_there() -> None:
    assert len({row.name for row in FORMATS}) == len(FORMATS)
    assert all(row.signs and all(row.signs) for row in FORMATS)
    assert format_named("generic") is GENERIC


CONTROL = r"\\\[[A-Z_]+\\\]|<\\?[|\uff5c].*?[|\uff5c]>"
"""A control token in a regular expression."""


def texts(value: Any) -> list[str]:
    """All texts of a description, those apart that are regular expressions."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, tuple):
        return [text for each in value for text in texts(each)]
    names = [field.name for field in fields(value) if field.name not in ("header", "recipients", "signs")] if is_dataclass(value) else []
    return [text for name in names for text in texts(getattr(value, name))]


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_control_tokens_of_headers_stand_as_they_are_in_the_description(row: OutputFormat) -> None:
    headers = [body.header for form in row.calls for body in form.bodies if isinstance(body, NamedCalls)]
    tokens = [re.sub(r"\\(.)", r"\1", token) for header in headers for token in re.findall(CONTROL, header)]
    assert all(any(token in text for text in texts(row)) for token in tokens)
    assert tokens or row.name not in ("mistral", "solar", "deepseek-r1")
