"""Grammar rules for where the thoughts stand that may come before what an answer has to be.

What is thought is not the grammar's business: while a model thinks, no grammar is asked or told, and the mark that ends
thoughts is not told either (`sampling.steps`). So of thoughts a grammar sees the mark that begins them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_cpp._features.grammar.tree import NOTHING, Node, Repetition

from .rule_book import SPACE, sequence

if TYPE_CHECKING:
    from .output.description import OutputFormat


def thoughts(description: OutputFormat, *, started: bool) -> Node:
    """Thoughts, or none, in the marks of a format; `started` says that the prompt ends within them."""
    marks, channels = description.reasoning, description.channels
    if channels is not None and channels.written_thoughts:
        return Repetition(sequence(channels.written_thoughts, channels.openers[0]), 0, 1)
    if marks is None:
        return NOTHING
    return SPACE if started else Repetition(sequence(marks.start, SPACE), 0, 1)
