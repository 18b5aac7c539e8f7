"""A difference as text: a line per change, grouped by header, with the old and the new signature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from buildsys.bump.difference import Change, Verb

_SIGNS: dict[Verb, str] = {"added": "+", "removed": "-", "changed": "~"}


def summary(changes: Sequence[Change]) -> str:
    """One sentence: how many of each kind were added, removed, changed."""
    counts = Counter((change.verb, change.kind) for change in changes)
    parts = []
    for verb in _SIGNS:
        found = [_counted(number, kind) for (each, kind), number in counts.items() if each == verb]
        if found:
            parts.append(f"{', '.join(found)} {verb}")
    return "; ".join(parts) if parts else "nothing changed"


def lines(changes: Sequence[Change]) -> Iterator[str]:
    """Every change, header by header: what is new, what is gone, what is different."""
    for header in dict.fromkeys(change.header for change in changes):
        yield ""
        yield header
        for verb in _SIGNS:
            for change in changes:
                if change.header == header and change.verb == verb:
                    yield from _change(change)


def _change(change: Change) -> Iterator[str]:
    sign = _SIGNS[change.verb]
    if change.verb != "changed":
        yield f"  {sign} {change.kind} {_without_kind(change)}"
        return
    yield f"  {sign} {change.kind} {change.name}"
    if change.old != change.new:
        yield f"      was {change.old}"
        yield f"      is  {change.new}"
    yield from (f"      {detail}" for detail in change.details)


def _without_kind(change: Change) -> str:
    text = change.new or change.old
    return change.name if text in {f"struct {change.name}", f"union {change.name}", f"enum {change.name}"} else text


def _counted(number: int, kind: str) -> str:
    return f"{number} {kind if number == 1 else f'{kind}s'}"
