from __future__ import annotations

from typing import Any

import pytest

from llama_cpp._features.chat.output.description import OutputFormat, ReasoningMarks
from llama_cpp._features.chat.output.formats import GENERIC, format_named
from llama_cpp._features.chat.reasoning import UNREACHED, reasoning_arguments, reasoning_started, with_reasoning

DEFAULTS: dict[str, Any] = {
    "reasoning_budget": -1, "reasoning_start": "<think>", "reasoning_end": "</think>", "reasoning_budget_message": None,
    "reasoning_start_in_prompt": False, "reasoning_start_max_tokens": 32,
}  # fmt: skip
MARKS = ReasoningMarks(start="[THINK]", end="[/THINK]")
THINKING = OutputFormat(name="t", reasoning=MARKS)


def test_a_format_keeps_its_marks_unless_a_request_names_others() -> None:
    assert with_reasoning(THINKING, DEFAULTS) is THINKING
    other = with_reasoning(THINKING, {**DEFAULTS, "reasoning_start": "<a>", "reasoning_end": "<b>"})
    assert other.reasoning == ReasoningMarks(start="<a>", end="<b>")


def test_a_format_without_marks_has_those_of_a_budget() -> None:
    assert with_reasoning(GENERIC, DEFAULTS) is GENERIC
    assert with_reasoning(GENERIC, {**DEFAULTS, "reasoning_budget": 0}).reasoning == ReasoningMarks(start="<think>", end="</think>")
    assert with_reasoning(GENERIC, {**DEFAULTS, "reasoning_start_in_prompt": True}).reasoning is not None
    channels = format_named("gpt-oss")
    assert with_reasoning(channels, {**DEFAULTS, "reasoning_budget": 0}) is channels


def test_limits_are_counted_between_the_marks_of_the_format() -> None:
    made = reasoning_arguments(THINKING, {**DEFAULTS, "reasoning_budget": 9}, started=True, constrained=False)
    assert made == {
        **DEFAULTS, "reasoning_budget": 9, "reasoning_start": "[THINK]", "reasoning_end": "[/THINK]", "reasoning_start_in_prompt": True,
    }  # fmt: skip
    channels = reasoning_arguments(format_named("gpt-oss"), DEFAULTS, started=False, constrained=False)
    assert (channels["reasoning_start"], channels["reasoning_end"]) == ("<|channel|>analysis<|message|>", "<|end|>")


def test_thoughts_are_watched_where_a_grammar_holds() -> None:
    assert reasoning_arguments(THINKING, DEFAULTS, started=False, constrained=True)["reasoning_budget"] == UNREACHED
    assert reasoning_arguments(THINKING, {**DEFAULTS, "reasoning_budget": 3}, started=False, constrained=True)["reasoning_budget"] == 3
    assert reasoning_arguments(THINKING, DEFAULTS, started=False, constrained=False)["reasoning_budget"] == -1
    assert reasoning_arguments(GENERIC, DEFAULTS, started=False, constrained=True) == DEFAULTS


@pytest.mark.parametrize(
    ("prompt", "started"),
    [
        ("[THINK]", True),
        ("a [THINK]\n", True),
        ("[THINK]a[/THINK]", False),
        ("a", False),
        ("[THINK]\n\n[/THINK]\n", False),
        ("[THINK] hm", False),
    ],
)
def test_a_prompt_may_end_within_thoughts(prompt: str, started: bool) -> None:
    assert reasoning_started(prompt, THINKING) is started
    assert reasoning_started(prompt, GENERIC) is False
