"""Makes a grammar's tree smaller and quicker to follow without changing what it matches.

Neighbouring literals are merged, nested sequences and choices flattened, alternatives met once, single characters of a
choice put into one class. What all alternatives begin or end with is written once: the fewer ways are open at a time,
the less a parser has to follow.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from .tree import NOTHING, Characters, Choice, Literal, Node, Repetition, Sequence

MAX_DEPTH = 24


def simplify(node: Node, depth: int = 0) -> Node:
    """The node, simplified."""
    if isinstance(node, Sequence):
        return sequence(simplify(item, depth) for item in node.items)
    if isinstance(node, Choice):
        return choice((simplify(option, depth) for option in node.options), depth)
    if isinstance(node, Repetition):
        item = simplify(node.item, depth)
        if node.maximum == 0 or item == NOTHING:
            return NOTHING
        return item if (node.minimum, node.maximum) == (1, 1) else Repetition(item, node.minimum, node.maximum)
    return node


def sequence(items: Iterable[Node]) -> Node:
    """Items one after the other."""
    merged: list[Node] = []
    for item in items:
        for part in item.items if isinstance(item, Sequence) else (item,):
            if part == Choice(()):
                return part
            if isinstance(part, Literal) and merged and isinstance(merged[-1], Literal):
                merged[-1] = Literal(merged[-1].text + part.text)
            elif part != NOTHING:
                merged.append(part)
    return merged[0] if len(merged) == 1 else Sequence(tuple(merged)) if merged else NOTHING


def choice(options: Iterable[Node], depth: int = 0) -> Node:
    """One of several options; the empty one comes last."""
    flat: dict[Node, None] = {}
    for option in options:
        flat.update(dict.fromkeys(option.options if isinstance(option, Choice) else (option,)))
    empty = NOTHING in flat
    distinct = [option for option in flat if option != NOTHING]
    if depth < MAX_DEPTH:
        distinct = _by_prefix(distinct, depth)
        distinct = _by_suffix(distinct)
    distinct = _classes(distinct)
    if empty:
        distinct.append(NOTHING)
    return distinct[0] if len(distinct) == 1 else Choice(tuple(distinct))


def _by_prefix(options: list[Node], depth: int) -> list[Node]:
    """Options that begin alike, once each, followed by a choice of how they go on."""
    heads = [_head(option) for option in options]
    if len({head for head in heads if head is not None}) == sum(head is not None for head in heads):
        return options
    groups: dict[object, list[Node]] = {}
    for number, (option, head) in enumerate(zip(options, heads, strict=True)):
        groups.setdefault(head if head is not None else number, []).append(option)
    return [members[0] if len(members) == 1 else _factored(members, depth) for members in groups.values()]


def _head(option: Node) -> Node | str | None:
    """What an option surely begins with: a character, or a whole item."""
    first = option.items[0] if isinstance(option, Sequence) and option.items else option
    if isinstance(first, Literal):
        return first.text[:1]
    return first if isinstance(option, Sequence) else None


def _factored(options: list[Node], depth: int) -> Node:
    first = options[0].items[0] if isinstance(options[0], Sequence) else options[0]
    if not isinstance(first, Literal):
        return sequence((first, choice((sequence(option.items[1:]) for option in options if isinstance(option, Sequence)), depth + 1)))
    texts = [_leading(option) for option in options]
    length = len(_common(texts))
    rests = [sequence((Literal(text[length:]), *_behind(option))) for text, option in zip(texts, options, strict=True)]
    return sequence((Literal(texts[0][:length]), choice(rests, depth + 1)))


def _leading(option: Node) -> str:
    first = option.items[0] if isinstance(option, Sequence) else option
    return first.text if isinstance(first, Literal) else ""


def _behind(option: Node) -> tuple[Node, ...]:
    return option.items[1:] if isinstance(option, Sequence) else ()


def _common(texts: list[str]) -> str:
    low, high = min(texts), max(texts)
    length = next((at for at, (one, other) in enumerate(zip(low, high, strict=False)) if one != other), min(len(low), len(high)))
    return low[:length]


def _by_suffix(options: list[Node]) -> list[Node]:
    """Neighbouring options that end with the same text or item, with that end written once."""
    found: list[Node] = []
    for tail, group in groupby(options, key=_tail):
        members = list(group)
        if tail is None or len(members) == 1:
            found.extend(members)
            continue
        ending: Node
        if isinstance(tail, str):
            texts = [_trailing(option)[::-1] for option in members]
            length = len(_common(texts))
            ending = Literal(texts[0][:length][::-1])
            rests = [sequence((*_before(option), Literal(_trailing(option)[: len(_trailing(option)) - length]))) for option in members]
        else:
            ending = tail
            rests = [sequence(option.items[:-1]) for option in members if isinstance(option, Sequence)]
        if NOTHING in rests:
            rests.remove(NOTHING)
            rests.append(NOTHING)
        found.append(sequence((Choice(tuple(_classes(rests))), ending)))
    return found


def _tail(option: Node) -> Node | str | None:
    last = option.items[-1] if isinstance(option, Sequence) and option.items else option
    if isinstance(last, Literal):
        return last.text[-1:]
    return last if isinstance(option, Sequence) else None


def _trailing(option: Node) -> str:
    last = option.items[-1] if isinstance(option, Sequence) else option
    return last.text if isinstance(last, Literal) else ""


def _before(option: Node) -> tuple[Node, ...]:
    return option.items[:-1] if isinstance(option, Sequence) else ()


def _classes(options: list[Node]) -> list[Node]:
    """Single characters and classes as one class, at the place of the first; choices within options opened."""
    options = [inner for option in options for inner in (option.options if isinstance(option, Choice) else (option,))]
    ranges: list[tuple[int, int]] = []
    rest: list[Node] = []
    place = -1
    for option in options:
        points = _points(option)
        if points is None:
            rest.append(option)
            continue
        place = len(rest) if place < 0 else place
        ranges.extend(points)
    if len(options) - len(rest) < 2:  # noqa: PLR2004 - nothing to join
        return options
    rest.insert(place, Characters(_joined(ranges)))
    return rest


def _points(option: Node) -> tuple[tuple[int, int], ...] | None:
    if isinstance(option, Literal) and len(option.text) == 1:
        return ((ord(option.text), ord(option.text)),)
    return option.ranges if isinstance(option, Characters) and not option.negated else None


def _joined(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    joined: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return tuple(joined)
