"""Whether a lazy grammar's trigger pattern is one that C++ std::regex accepts.

llama.cpp compiles patterns without a net: one that std::regex refuses ends the process. What this module lets pass
is the part of ECMAScript's syntax that both C++ libraries implement.
"""

from __future__ import annotations

import re

from .errors import GrammarError

_MAX_REPEAT = 1000  # std::regex expands counted repetitions
_CLASS_ESCAPES = "dDsSwWbfnrtv0"
_ESCAPES = _CLASS_ESCAPES + "B"
_POSIX_CLASSES = frozenset(("alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit"))
_TOKEN = re.compile(
    r"""
      \\x[0-9A-Fa-f]{2} | \\u[0-9A-Fa-f]{4} | \\c[A-Za-z]
    | (?P<reference>\\[1-9][0-9]*)
    | (?P<escape>\\.)
    | (?P<group>\((?:\?[:=!])?(?!\?))
    | (?P<close>\))
    | (?P<cls>\[\^?)
    | (?P<repeat>[*+?]\??|\{(?P<low>[0-9]{1,4})(?:,(?P<high>[0-9]{0,4}))?\}\??)
    | (?P<anchor>[\^$])
    | (?P<bar>\|)
    | [^\\()\[\]{}*+?|^$]
    """,
    re.VERBOSE | re.DOTALL,
)
_CLASS_TOKEN = re.compile(
    r"""
      \\x[0-9A-Fa-f]{2} | \\u[0-9A-Fa-f]{4}
    | (?P<escape>\\.)
    | \[:(?P<posix>[a-z]+):\]
    | (?P<odd>\[[:.=])
    | [^\]\\]
    """,
    re.VERBOSE | re.DOTALL,
)


def check_trigger_pattern(pattern: str) -> str:
    """The pattern itself; `GrammarError` naming what std::regex would refuse, and where."""
    if not pattern or "\0" in pattern:
        raise GrammarError("a trigger pattern must be text without NUL characters")
    _walk(pattern)
    try:
        re.compile(pattern.replace("[[:", "[[").replace(":]", "]") if "[:" in pattern else pattern)
    except re.error as error:
        raise GrammarError(f"trigger pattern {pattern!r}: {error}") from error
    return pattern


def _walk(pattern: str) -> None:
    """Read the pattern token by token, refusing what is not allowed where it stands."""
    groups = _Groups(pattern)
    at, repeatable = 0, False
    while at < len(pattern):
        found = _TOKEN.match(pattern, at)
        if found is None:
            raise _refusal(pattern, at, "unsupported syntax")
        if found["repeat"]:
            if not repeatable:
                raise _refusal(pattern, at, "nothing to repeat")
            _check_repeat(pattern, at, found)
            repeatable = False
        else:
            repeatable = _read(pattern, at, found, groups)
        at = _class_end(pattern, found.end()) if found["cls"] else found.end()
    groups.finish()


def _read(pattern: str, at: int, found: re.Match[str], groups: _Groups) -> bool:
    """Take one token that is no repetition; returns whether a repetition may follow it."""
    if found["escape"]:
        _check_escape(pattern, at, found[0], _ESCAPES)
        return found[0] not in ("\\b", "\\B")
    if found["reference"]:
        groups.refer(at, int(found[0][1:]))
    elif found["group"]:
        groups.open(found[0])
        return False
    elif found["close"]:
        return groups.close(at)
    return not (found["anchor"] or found["bar"])


class _Groups:
    """The groups open at a place of a pattern, and how many are complete."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._open: list[str] = []
        self._captures = 0
        self._complete = 0

    def open(self, token: str) -> None:
        self._open.append(token)
        if token == "(":  # noqa: S105 - a token of the pattern
            self._captures += 1

    def close(self, at: int) -> bool:
        """Close the innermost group; a look-ahead cannot be repeated."""
        if not self._open:
            raise _refusal(self._pattern, at, "unbalanced parenthesis")
        opened = self._open.pop()
        if not self._open:
            self._complete = self._captures
        return opened not in ("(?=", "(?!")

    def refer(self, at: int, number: int) -> None:
        if number > self._complete:
            raise _refusal(self._pattern, at, "reference to a group that is not closed before it")

    def finish(self) -> None:
        if self._open:
            raise _refusal(self._pattern, len(self._pattern), "unbalanced parenthesis")


def _check_repeat(pattern: str, at: int, found: re.Match[str]) -> None:
    low, high = found["low"], found["high"]
    if low is None:
        return
    bounds = [int(low), int(high) if high else int(low)]
    if bounds[0] > bounds[1] or bounds[1] > _MAX_REPEAT:
        raise _refusal(pattern, at, f"repetition outside 0 to {_MAX_REPEAT} or in the wrong order")


def _check_escape(pattern: str, at: int, escape: str, allowed: str) -> None:
    char = escape[1]
    if (char.isalnum() and char not in allowed) or char == "_" or not char.isascii():
        raise _refusal(pattern, at, f"unsupported escape {escape}")


def _class_end(pattern: str, at: int) -> int:
    """The index after the character class whose content begins at `at`."""
    begin = at
    while at < len(pattern):
        if pattern[at] == "]":
            if at == begin:  # C++ libraries disagree on an empty class
                raise _refusal(pattern, at, "empty character class")
            return at + 1
        found = _CLASS_TOKEN.match(pattern, at)
        if found is None or found["odd"] or (found["posix"] and found["posix"] not in _POSIX_CLASSES):
            break
        if found["escape"]:
            _check_escape(pattern, at, found[0], _CLASS_ESCAPES)
        at = found.end()
    raise _refusal(pattern, at, "unfinished or unsupported character class")


def _refusal(pattern: str, at: int, what: str) -> GrammarError:
    return GrammarError(f"trigger pattern {pattern!r}: {what} at character {at}")
