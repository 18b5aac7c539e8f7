"""The members of an object, in order, some of them optional: one node, and the few rules per member that it is printed as.

n optional members make 2 n rules: one that holds the member, and one that goes on behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from llama_cpp._features.grammar import printing
from llama_cpp._features.grammar.tree import Node, Reference

from .spelling import text

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_ .:/-]*")


Member: TypeAlias = tuple[str, Node, bool]
"""A property: its name, its value, whether it has to be there."""


@dataclass(frozen=True, slots=True)
class Members:
    """`{`, these members with commas between those that are there, any number of further ones (kinds of key and value), `}`."""

    members: tuple[Member, ...]
    further: tuple[tuple[Node, Node], ...] = ()
    compact: bool = False


def print_members(rule: str, node: Members) -> Iterator[str]:
    """The lines of the rule and of those that it needs."""
    space = "" if node.compact else " space"
    comma = f'","{space} '
    written, blocks = _written(rule, node, space)
    further = ""
    if node.further:
        blocks += _further(rule, node.further, space)
        further = f"{rule}--further"
    optional = next((number for number, (_, _, required) in enumerate(node.members) if required), len(node.members))
    rest = _rest(node, written, optional, comma, further)
    if not optional:
        body = f" {rest}{space}" if node.members else f" ({rest}{space})?" if rest else ""
        yield f'{rule} ::= "{{"{space}{body} "}}"\n'
        yield from blocks
        return
    yield from _leading(rule, node, written, optional, rest)
    yield from blocks


def _leading(rule: str, node: Members, written: list[str], optional: int, rest: str) -> Iterator[str]:
    """Rules for members that may be left out before the first that may not: none of them knows whether a comma comes before it."""
    space = "" if node.compact else " space"
    comma = f'","{space} '
    required = optional < len(node.members)
    last = optional - 1
    this, then = f"{rule}--m", f"{rule}--t"
    options = [f"{this}{number} {then}{number + 1}" for number in range(last)]
    options.append(f"{this}{last} {then}{optional}" if rest else f"{this}{last}")
    if rest:
        options.append(f"{rule}--rest")
    choice = " | ".join(options)
    # An empty alternative, not "?": llama.cpp repeats no group that mentions many rules.
    body = f"({choice}){space}" if required else f'(({choice}){space} | "")' if space else f'({choice} | "")'
    yield f'{rule} ::= "{{"{space} {body} "}}"\n{this}0 ::= {written[0]}\n'
    lines = [
        f"{this}{number} ::= {written[number]}\n{then}{number} ::= ({comma}{this}{number})? {then}{number + 1}\n"
        for number in range(1, optional if rest else last)
    ]
    yield "".join(lines)
    if rest:
        ending = f"{comma}{rule}--rest" if required else f"({comma}{rule}--rest)?"
        yield f"{then}{optional} ::= {ending}\n{rule}--rest ::= {rest}\n"
    elif last:
        yield f"{this}{last} ::= {written[last]}\n{then}{last} ::= ({comma}{this}{last})?\n"


def _rest(node: Members, written: list[str], optional: int, comma: str, further: str) -> str:
    """What comes from the first required member on; `further` is the node of further ones, and more of them."""
    if optional == len(node.members):
        return f"{further} ({comma}{further})*" if further else ""
    parts = [written[optional]]
    for (_, _, required), member in zip(node.members[optional + 1 :], written[optional + 1 :], strict=True):
        parts.append(f"{comma}{member}" if required else f"({comma}{member})?")
    if further:
        parts.append(f"({comma}{further})*")
    return " ".join(parts)


def _written(rule: str, node: Members, space: str) -> tuple[list[str], list[str]]:
    """Each member's name, colon and value."""
    blocks: list[str] = []
    names = [name for name, _, _ in node.members]
    if _PLAIN_NAME.fullmatch("".join(names)):
        keys = [f'"\\"{name}\\":"{space} ' for name in names]
    else:
        keys = [f"{printing.quoted(f'{text(name)}:')}{space} " for name in names]
    written: list[str] = []
    for number, (_, value, _) in enumerate(node.members):
        if type(value) is Reference:
            written.append(keys[number] + value.rule)
        else:
            inner, more = printing.print_inline(f"{rule}--v{number}", value)
            written.append(keys[number] + inner)
            blocks += more
    return written, blocks


def _further(rule: str, kinds: tuple[tuple[Node, Node], ...], space: str) -> list[str]:
    """The rule of a further member, and those that it needs."""
    options: list[str] = []
    lines: list[str] = []
    for number, (key, value) in enumerate(kinds):
        first, blocks = printing.print_inline(f"{rule}--k{number}", key)
        second, more = printing.print_inline(f"{rule}--w{number}", value)
        options.append(f'{first} ":"{space} {second}')
        lines += [*blocks, *more]
    return [f"{rule}--further ::= {' | '.join(options)}\n", *lines]
