"""Decoding under a grammar: what it costs to ask it about every token, and to choose again where it refuses."""

from __future__ import annotations

import dataclasses

from benchmarks.arena import Arena, Entry
from benchmarks.line import Line, at_least
from benchmarks.protocol import DEFAULT_CHAIN, GREEDY, Task
from benchmarks.rows.decode import TEXT_MODEL
from benchmarks.rows.vocabulary import MODEL

PROMPT = "All about a lighthouse, its keeper and its ships, as one long JSON object:\n"
JSON_OBJECT = r"""root   ::= "{" ws member ("," ws member){60,} "}"  # too long to end before the last token that is asked for
object ::= "{" ws (member ("," ws member)*)? "}"
member ::= string ":" ws value
value  ::= (object | "[" ws (value ("," ws value)*)? "]" | string | number | "true" | "false" | "null") ws
string ::= "\"" ([^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9A-Fa-f]{4}))* "\""
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [+-]? [0-9]+)?
ws     ::= [ \t\n\r]*
"""


def json_object(arena: Arena) -> list[Line]:
    """`create_completion` on the text model, greedy and with the default chain."""
    setup = arena.ready(arena.model(TEXT_MODEL)).ours
    lines = []
    for sampling, name in ((GREEDY, "greedy"), (DEFAULT_CHAIN, "default chain")):
        plain = Task(setup=setup, prompt=PROMPT, tokens=arena.tokens, sampling=sampling, seed=3)
        lines.append(_beside(arena, "grammar", plain, name, goal=0.90))
    return lines


def unwilling(arena: Arena) -> list[Line]:
    """A tiny model of random weights, whose every token is refused: no target, for what a refusal costs."""
    plain = Task(setup=arena.ready(arena.model(MODEL)).ours, prompt="hello all", tokens=arena.tokens, sampling=DEFAULT_CHAIN)
    return [_beside(arena, "grammar-vocabulary", plain, "default chain", goal=None)]


def _beside(arena: Arena, row: str, plain: Task, name: str, *, goal: float | None) -> Line:
    held = dataclasses.replace(plain, grammar=JSON_OBJECT)
    entries = {
        "plain": Entry(contestant=arena.ours, task=plain, label=f"create_completion, {name}"),
        "held": Entry(contestant=arena.ours, task=held, label=f"create_completion with a grammar, {name}"),
    }
    return arena.contest(row, entries).compare("held", "plain", None if goal is None else at_least(goal))
