"""What a chat template may cost: how long a text it may build, how many steps and how much time it may take.

A template is a program out of a model file. The sandbox of Jinja keeps it from the interpreter; this keeps it from
eating memory and time.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from jinja2.exceptions import SecurityError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_TEXT = 1 << 24
"""Characters of any text that a template builds, its output included."""
MAX_ELEMENTS = 250_000
"""Elements of any list that a template builds, and values that it prints at once."""
MAX_STEPS = 1_000_000
"""Loop iterations and calls of one rendering."""
MAX_SECONDS = 20.0
"""Processor time of one rendering."""
MAX_WIDTH = 1000
"""Field widths, indentations and precisions in formatting."""
_MAX_BITS = 1 << 16

_WIDE_FIELD = re.compile(r"\d{4,}|\*|\{[^{}]*\{")


class TemplateLimitError(SecurityError):
    """A template asked for more than it may have."""


class _Use:
    __slots__ = ("deadline", "steps")

    def __init__(self) -> None:
        self.steps = 0
        self.deadline = time.thread_time() + MAX_SECONDS


_use: ContextVar[_Use] = ContextVar("chat_template_use")


@contextmanager
def limited() -> Iterator[None]:
    """One rendering: steps and time count from here."""
    token = _use.set(_Use())
    try:
        yield
    finally:
        _use.reset(token)


def step() -> None:
    """One iteration or call."""
    use = _use.get(None)
    if use is None:
        return
    use.steps += 1
    if use.steps > MAX_STEPS:
        raise TemplateLimitError(f"a chat template may take {MAX_STEPS} steps at most")
    if not use.steps % 64 and time.thread_time() > use.deadline:
        raise TemplateLimitError(f"a chat template may take {MAX_SECONDS:g} s at most")


def check_text(size: int) -> None:
    """A text of `size` characters is about to exist."""
    if size > MAX_TEXT:
        raise TemplateLimitError(f"a chat template may build texts of {MAX_TEXT} characters at most")


def check_elements(count: int) -> None:
    """A list of `count` elements is about to exist."""
    if count > MAX_ELEMENTS:
        raise TemplateLimitError(f"a chat template may build lists of {MAX_ELEMENTS} elements at most")


def check_width(*values: object) -> None:
    """Numbers that say how wide something is printed."""
    for value in values:
        if isinstance(value, int | float) and abs(value) > MAX_WIDTH:
            raise TemplateLimitError(f"a chat template may use widths of {MAX_WIDTH} at most")


def check_format(pattern: object) -> None:
    """A format string: a width in it is written out, and small."""
    if isinstance(pattern, str) and _WIDE_FIELD.search(pattern):
        raise TemplateLimitError(f"a chat template may use widths of {MAX_WIDTH - 1} at most, written out")


def joined(parts: Iterable[Any]) -> str:
    """The parts as one text."""
    texts = [part if isinstance(part, str) else str(printable(part)) for part in parts]
    check_text(sum(map(len, texts)))
    return "".join(texts)


def printable(value: Any) -> Any:
    """The value itself, when printing it is no great matter: values may hold each other many times over."""
    if isinstance(value, list | tuple | Mapping):
        left = MAX_ELEMENTS
        waiting = [value]
        while waiting:
            each = waiting.pop()
            if isinstance(each, Mapping):
                waiting.extend(each.values())
                left -= len(each)
            elif isinstance(each, list | tuple):
                waiting.extend(each)
                left -= len(each)
            if left < 0:
                raise TemplateLimitError(f"a chat template may print {MAX_ELEMENTS} values at once at most")
    return value


def check_operation(operator: str, left: Any, right: Any) -> None:
    """An operation of two values: what it would make is not too large."""
    if operator == "%" and isinstance(left, str | bytes):
        check_format(left)
        printable(right)
    elif operator == "+":
        if isinstance(left, str):
            check_text(len(left) + len(right) if isinstance(right, str) else 0)
        elif isinstance(left, list | tuple) and isinstance(right, list | tuple):
            check_elements(len(left) + len(right))
    elif operator in ("*", "**"):
        _check_product(operator, left, right)


def _check_product(operator: str, left: Any, right: Any) -> None:
    for sized, count in ((left, right), (right, left)):
        if isinstance(sized, str | bytes) and isinstance(count, int):
            check_text(len(sized) * count)
        elif isinstance(sized, list | tuple) and isinstance(count, int):
            check_elements(len(sized) * count)
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length() * abs(right) if operator == "**" else left.bit_length() + right.bit_length()
        if bits > _MAX_BITS:
            raise TemplateLimitError("a chat template computed a number that is too large")


def check_method(owner: Any, name: str, arguments: tuple[Any, ...]) -> None:
    """A method of a text, before it is called."""
    if name in ("center", "ljust", "rjust", "zfill", "expandtabs"):
        check_width(*arguments)
    elif name in ("format", "format_map"):
        check_format(owner)
        printable(list(arguments))
    elif name == "replace" and len(arguments) > 1 and isinstance(arguments[1], str | bytes):
        places = owner.count(arguments[0]) if arguments[0] else len(owner) + 1
        check_text(len(owner) + places * len(arguments[1]))
    elif name == "join" and arguments:
        parts = list(arguments[0])
        check_text(sum(len(part) for part in parts if isinstance(part, str | bytes)) + len(owner) * len(parts))
    elif name in ("translate", "to_bytes"):
        raise TemplateLimitError(f"a chat template may not use {name}")
