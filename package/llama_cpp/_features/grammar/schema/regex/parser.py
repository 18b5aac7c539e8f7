"""Reads the text of a regular expression as ECMA-262 with the `u` flag does; what describes no regular language is refused."""

from __future__ import annotations

from llama_cpp._features.grammar.schema import codepoints
from llama_cpp._features.grammar.schema.codepoints import Ranges

from .syntax import EMPTY, Alternation, Anchor, Class, Concatenation, Expression, Repeat

MAX_NESTING = 100

DIGITS: Ranges = ((0x30, 0x39),)
WORD: Ranges = codepoints.union(DIGITS, ((0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)))
SPACES: Ranges = codepoints.union(
    ((0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029)),
    ((0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
)
LINE_ENDS: Ranges = codepoints.of("\n\r\u2028\u2029")
NAMED: dict[str, Ranges] = {"d": DIGITS, "w": WORD, "s": SPACES}
CONTROLS = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "0": "\0"}


class RegexError(ValueError):
    """What is wrong with a pattern, or what of it is not supported, in words."""


def parse(pattern: str, *, dotall: bool = False) -> Expression:
    """The tree of a pattern. `dotall` lets `.` match ends of lines too. `RegexError` says what is wrong, and where."""
    return _Parser(pattern, dotall=dotall).whole()


class _Parser:
    def __init__(self, text: str, *, dotall: bool) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._dot = Class(codepoints.EVERY if dotall else codepoints.complement(LINE_ENDS))

    def whole(self) -> Expression:
        node = self._alternation()
        if self._at < len(self._text):
            raise self._error("an unbalanced )")
        return node

    def _error(self, what: str) -> RegexError:
        return RegexError(f"{what} at position {self._at} of the pattern {self._text!r}")

    def _peek(self, length: int = 1) -> str:
        return self._text[self._at : self._at + length]

    def _take(self, expected: str) -> bool:
        if self._text.startswith(expected, self._at):
            self._at += len(expected)
            return True
        return False

    def _alternation(self) -> Expression:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise self._error(f"groups nested deeper than {MAX_NESTING}")
        options = [self._sequence()]
        while self._take("|"):
            options.append(self._sequence())
        self._depth -= 1
        return options[0] if len(options) == 1 else Alternation(tuple(options))

    def _sequence(self) -> Expression:
        items: list[Expression] = []
        while self._peek() not in ("", "|", ")"):
            items.append(self._quantified(self._atom()))
        return items[0] if len(items) == 1 else Concatenation(tuple(items)) if items else EMPTY

    def _quantified(self, item: Expression) -> Expression:
        start = self._at
        if self._take("*"):
            low, high = 0, None
        elif self._take("+"):
            low, high = 1, None
        elif self._take("?"):
            low, high = 0, 1
        elif self._peek() == "{":
            low, high = self._braces()
        else:
            return item
        if isinstance(item, Anchor):
            self._at = start
            raise self._error("a repeated anchor")
        if self._peek() == "?":
            raise self._error("a lazy quantifier (not supported)")
        if self._peek() and self._peek() in "*+{":
            raise self._error("a quantifier with nothing to repeat")
        return Repeat(item, low, high)

    def _braces(self) -> tuple[int, int | None]:
        end = self._text.find("}", self._at)
        low, comma, high = self._text[self._at + 1 : max(end, self._at + 1)].partition(",")
        if not (_is_number(low) and (not high or _is_number(high))):
            raise self._error("a { that begins no quantifier")
        if comma and high and int(high) < int(low):
            raise self._error("a quantifier whose numbers are out of order")
        self._at = end + 1
        return int(low), int(high) if high else None if comma else int(low)

    def _atom(self) -> Expression:
        character = self._peek()
        if character in "*+?{":
            raise self._error("a quantifier with nothing to repeat")
        if character in "]}":
            raise self._error(f"an unbalanced {character}")
        if character == "(":
            return self._group()
        if character == "[":
            return Class(self._bracket())
        if character == "\\":
            if self._peek(2) in ("\\b", "\\B"):
                raise self._error(f"a word boundary {self._peek(2)} (not supported)")
            return Class(self._escape())
        self._at += 1
        if character == "^":
            return Anchor(end=False)
        if character == "$":
            return Anchor(end=True)
        return self._dot if character == "." else Class(self._plain(character))

    def _group(self) -> Expression:
        if self._peek(3) in ("(?=", "(?!"):
            raise self._error("a lookahead (not supported)")
        if self._peek(4) in ("(?<=", "(?<!"):
            raise self._error("a lookbehind (not supported)")
        if self._take("(?<"):
            end = self._text.find(">", self._at)
            if end < 0 or not self._text[self._at : end].isidentifier():
                raise self._error("a group without a valid name")
            self._at = end + 1
        elif not self._take("(?:"):
            if self._peek(2) == "(?":
                raise self._error("a group of an unknown kind (flags are not supported)")
            self._at += 1
        node = self._alternation()
        if not self._take(")"):
            raise self._error("an unbalanced (")
        return node

    def _plain(self, character: str) -> Ranges:
        if "\ud800" <= character <= "\udfff":
            raise self._error("half a surrogate pair")
        return codepoints.of(character)

    def _escape(self, *, inside: bool = False) -> Ranges:
        """A backslash and what belongs to it; more than one character for a class such as all digits."""
        kind = self._peek(2)[1:]
        if not kind:
            raise self._error("a backslash at the end")
        if kind.lower() in NAMED:
            self._at += 2
            return NAMED[kind] if kind in NAMED else codepoints.complement(NAMED[kind.lower()])
        if kind in "123456789k":
            raise self._error("a back-reference (not supported)")
        if kind in "pP":
            raise self._error("a Unicode property escape (not supported)")
        if kind == "0" and self._peek(3)[2:].isdigit():
            raise self._error("an octal escape")
        if kind in CONTROLS or (inside and kind == "b"):
            self._at += 2
            return codepoints.of(CONTROLS.get(kind, "\b"))
        if kind in "xuc":
            return self._numeric(kind)
        if kind.isalnum() or not kind.isascii():
            raise self._error(f"an unknown escape \\{kind}")
        self._at += 2
        return codepoints.of(kind)

    def _numeric(self, kind: str) -> Ranges:
        if kind == "c":
            letter = self._peek(3)[2:]
            if not (letter.isascii() and letter.isalpha()):
                raise self._error("an escape \\c without a letter")
            self._at += 3
            return codepoints.of(chr(ord(letter) % 32))
        if self._peek(3) == "\\u{":
            end = self._text.find("}", self._at)
            point = self._hexadecimal(self._at + 3, end)
            self._at = end + 1
        else:
            end = self._at + (4 if kind == "x" else 6)
            point = self._hexadecimal(self._at + 2, end)
            self._at = end
            if 0xD800 <= point <= 0xDBFF and self._peek(2) == "\\u":  # noqa: PLR2004 - high surrogates
                low = self._hexadecimal(self._at + 2, self._at + 6)
                self._at += 6
                point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00) if 0xDC00 <= low <= 0xDFFF else low  # noqa: PLR2004
        if not codepoints.contains(codepoints.EVERY, point):
            raise self._error("an escape that names no character")
        return ((point, point),)

    def _hexadecimal(self, begin: int, end: int) -> int:
        digits = self._text[begin:end] if end > begin else ""
        if not digits or len(digits) < end - begin or any(digit not in "0123456789abcdefABCDEF" for digit in digits):
            raise self._error("an escape without its hexadecimal digits")
        return int(digits, 16)

    def _bracket(self) -> Ranges:
        start = self._at
        self._at += 1
        negated = self._take("^")
        found: list[tuple[int, int]] = []
        while not self._take("]"):
            if not self._peek():
                self._at = start
                raise self._error("an unbalanced [")
            first = self._member()
            if self._peek() == "-" and self._peek(2)[1:] not in ("", "]"):
                self._at += 1
                found.append(self._span(first, self._member()))
            else:
                found.extend(first)
        members = codepoints.ranges(found)
        return codepoints.complement(members) if negated else members

    def _member(self) -> Ranges:
        if self._peek() == "\\":
            return self._escape(inside=True)
        self._at += 1
        return self._plain(self._text[self._at - 1])

    def _span(self, first: Ranges, last: Ranges) -> tuple[int, int]:
        if codepoints.size(first) != 1 or codepoints.size(last) != 1:
            raise self._error("a range between classes")
        if last[0][0] < first[0][0]:
            raise self._error("a range out of order")
        return first[0][0], last[0][0]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 9  # noqa: PLR2004 - more is no sane count
