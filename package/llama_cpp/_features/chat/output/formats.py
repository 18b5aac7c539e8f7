"""Which format a chat template belongs to."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from .description import OutputFormat, ReasoningMarks
from .table import FORMATS, GENERIC

__all__ = ["FORMATS", "GENERIC", "REASONING", "OutputFormat", "detect_format", "format_named"]

REASONING = tuple(
    ReasoningMarks(start=start, end=end)
    for start, end in (
        ("<seed:think>", "</seed:think>"),
        ("<mm:think>", "</mm:think>"),
        ("<|START_THINKING|>", "<|END_THINKING|>"),
        ("<|inner_prefix|>", "<|inner_suffix|>"),
        ("<|channel>thought\n", "<channel|>"),
        ("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),
        ("[THINK]", "[/THINK]"),
        ("<think>", "</think>"),
    )
)
"""What stands around thoughts, the more telling first."""


def format_named(name: str) -> OutputFormat:
    """The row of this name; KeyError when there is none."""
    return {row.name: row for row in (*FORMATS, GENERIC)}[name]


@lru_cache(maxsize=64)
def detect_format(template: str | None) -> OutputFormat:
    """The format that a model with this chat template writes; `GENERIC` where the template doesn't tell.

    Thoughts are looked for where the template mentions their marks.
    """
    text = template or ""
    found = next((row for row in FORMATS if any(all(sign in text for sign in signs) for signs in row.signs)), GENERIC)
    if found.reasoning is not None or (found.channels is not None and found.channels.initial):
        return found
    return replace(found, reasoning=next((marks for marks in REASONING if marks.end in text or marks.start.strip() in text), None))
