"""Thoughts in an answer: which marks stand around them, and whether a prompt already ends within them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from llama_cpp._features.sampling.reasoning import NO_BUDGET

from .output.description import OutputFormat, ReasoningMarks

if TYPE_CHECKING:
    from collections.abc import Mapping

UNREACHED = 1 << 30
"""A limit that no thinking meets."""
DEFAULT_MARKS = ReasoningMarks(start="<think>", end="</think>")


def with_reasoning(description: OutputFormat, arguments: Mapping[str, Any]) -> OutputFormat:
    """The format with the marks that a request names by `reasoning_start` and `reasoning_end`, or limits by a budget.

    Marks left alone are the format's own; a format without any has none unless the request speaks of thinking.
    """
    given = ReasoningMarks(start=arguments["reasoning_start"], end=arguments["reasoning_end"])
    unmarked = description.reasoning is None and description.channels is None
    if given != DEFAULT_MARKS or (unmarked and (arguments["reasoning_budget"] > NO_BUDGET or arguments["reasoning_start_in_prompt"])):
        return replace(description, reasoning=given)
    return description


def reasoning_arguments(description: OutputFormat, arguments: Mapping[str, Any], *, started: bool, constrained: bool) -> dict[str, Any]:
    """The `reasoning_…` arguments of a completion for an answer in this format; those that a request names stay.

    `constrained` says that a grammar holds from the answer's beginning: then thoughts are watched without a limit too, for
    the grammar is not about them.
    """
    made = {name: value for name, value in arguments.items() if name.startswith("reasoning_")}
    marks, channels = description.reasoning, description.channels
    if channels is not None and channels.written_thoughts and marks is None:
        marks = ReasoningMarks(start=channels.written_thoughts, end=channels.ends[0])
    if marks is None:
        return made
    if (arguments["reasoning_start"], arguments["reasoning_end"]) == (DEFAULT_MARKS.start, DEFAULT_MARKS.end):
        made |= {"reasoning_start": marks.start.strip(), "reasoning_end": marks.end}
    made["reasoning_start_in_prompt"] = bool(arguments["reasoning_start_in_prompt"] or started)
    if constrained and arguments["reasoning_budget"] == NO_BUDGET:
        made["reasoning_budget"] = UNREACHED
    return made


def reasoning_started(prompt: str, description: OutputFormat) -> bool:
    """Whether a prompt ends within thoughts: with the mark that begins them, white space aside, or later."""
    marks = description.reasoning
    if marks is None:
        return False
    start = prompt.rfind(marks.start.strip())
    return start >= 0 and not prompt[start + len(marks.start.strip()) :].strip()
