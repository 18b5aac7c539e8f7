"""Texts to generate and how to take a completion apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

PROMPT = "Once upon a time, in a small village by the sea,"
# Prompts after which SmolLM2's likeliest token leads by more than 1.5 at each of the next 16 steps.
CERTAIN_PROMPTS = (
    "1, 2, 3, 4, 5, 6, 7,",
    "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n",
)
GREEDY = {"temperature": 0.0}


def text(completion: Any) -> str:
    """The text of a whole completion."""
    return str(completion["choices"][0]["text"])


def finish_reason(completion: Any) -> str:
    """Why it ended."""
    return str(completion["choices"][0]["finish_reason"])


def joined(chunks: Iterable[Any]) -> tuple[str, str]:
    """Text and finish reason of a stream: the last chunk carries the reason, and no other does."""
    pieces = list(chunks)
    reasons = [chunk["choices"][0]["finish_reason"] for chunk in pieces]
    assert reasons, "the stream is empty"
    assert reasons[-1] is not None, reasons
    assert set(reasons[:-1]) <= {None}, reasons
    return "".join(text(chunk) for chunk in pieces), str(reasons[-1])


def cut_at_first_stop(whole: str, stops: Iterable[str]) -> str:
    """What stop strings leave of `whole`: all before the one that starts first; empty ones are ignored."""
    places = [place for stop in stops if stop and (place := whole.find(stop)) >= 0]
    return whole[: min(places)] if places else whole
