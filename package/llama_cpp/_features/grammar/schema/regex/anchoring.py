"""What a pattern means for a whole text: anchors taken out, and the rest of the text put around what is not anchored."""

from __future__ import annotations

from dataclasses import dataclass

from llama_cpp._features.grammar.schema import codepoints

from .parser import RegexError
from .syntax import EMPTY, Alternation, Anchor, Class, Concatenation, Expression, Repeat, nullable

MAX_ALTERNATIVES = 64
ANYTHING = Repeat(Class(codepoints.EVERY), 0, None)


@dataclass(frozen=True, slots=True)
class _Part:
    """A body without anchors, and whether it has to stand at the begin and at the end of the text."""

    body: Expression
    start: bool = False
    end: bool = False


def whole_text(node: Expression) -> Expression:
    """The expression that matches a text from begin to end exactly if `node` matches somewhere in it."""
    options: list[Expression] = []
    for part in _parts(node):
        before = () if part.start else (ANYTHING,)
        after = () if part.end else (ANYTHING,)
        options.append(Concatenation((*before, part.body, *after)) if before or after else part.body)
    return options[0] if len(options) == 1 else Alternation(tuple(options))


def _anchored(node: Expression) -> bool:
    if isinstance(node, Concatenation):
        return any(_anchored(item) for item in node.items)
    if isinstance(node, Alternation):
        return any(_anchored(option) for option in node.options)
    return isinstance(node, Anchor) or (isinstance(node, Repeat) and _anchored(node.item))


def _parts(node: Expression) -> list[_Part]:
    if isinstance(node, Anchor):
        return [_Part(EMPTY, start=not node.end, end=node.end)]
    if not _anchored(node):
        return [_Part(node)]
    if isinstance(node, Alternation):
        return [part for option in node.options for part in _parts(option)]
    if isinstance(node, Concatenation):
        parts = [_Part(EMPTY)]
        for item in node.items:
            parts = [joined for left in parts for right in _parts(item) if (joined := _joined(left, right)) is not None]
            if len(parts) > MAX_ALTERNATIVES:
                raise RegexError("anchors in too many alternatives (not supported)")
        return parts
    raise RegexError("an anchor inside a repetition (not supported)")


def _joined(left: _Part, right: _Part) -> _Part | None:
    """One after the other; None when an anchor in between makes that impossible."""
    first, second = left.body, right.body
    if right.start:
        if not nullable(first):
            return None
        first = EMPTY
    if left.end:
        if not nullable(second):
            return None
        second = EMPTY
    body = second if first == EMPTY else first if second == EMPTY else Concatenation((*_items(first), second))
    # An end that was reached stays reached: what follows it matched the empty text.
    return _Part(body, start=left.start or right.start, end=right.end or left.end)


def _items(node: Expression) -> tuple[Expression, ...]:
    return node.items if isinstance(node, Concatenation) else (node,)
