from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._features.grammar.schema import instances, json_schema_to_gbnf
from llama_cpp._features.grammar.schema.regex import anchoring, parser
from llama_cpp._features.grammar.schema.regex.syntax import lengths
from tests.package.features.grammar.recognizer import matches

REFUSED = {
    r"a\b": "word boundary",
    r"(a)\1": "back-reference",
    r"\k<n>": "back-reference",
    "a*?": "lazy",
    "a{1,2}?": "lazy",
    "(?=a)": "lookahead",
    "(?<!a)": "lookbehind",
    "(?i)a": "unknown kind",
    r"\p{L}": "property",
    "a{3,2}": "out of order",
    "[z-a]": "out of order",
    r"[\d-a]": "between classes",
    r"[a-\d]": "between classes",
    "(a": "unbalanced",
    "a)": "unbalanced",
    "[a": "unbalanced",
    "a]": "unbalanced",
    "a}": "unbalanced",
    "a{": "no quantifier",
    "*a": "nothing to repeat",
    "a**": "nothing to repeat",
    "a|+": "nothing to repeat",
    "^*": "repeated anchor",
    "(a$)*": "anchor inside a repetition",
    "\\": "backslash at the end",
    r"\q": "unknown escape",
    r"\x1": "hexadecimal",
    r"\u{110000}": "names no character",
    r"\07": "octal",
    r"\c1": "without a letter",
    "(?<1>a)": "valid name",
    "(" * 200 + ")" * 200: "nested",
}


@pytest.mark.parametrize(("pattern", "reason"), REFUSED.items())
def test_what_is_not_supported_is_refused_with_words(pattern: str, reason: str) -> None:
    with pytest.raises(parser.RegexError, match=reason):
        anchoring.whole_text(parser.parse(pattern))


PATTERNS = (
    "abc",
    "^abc$",
    "^a|b$",
    "^(a|b)$",
    "^(^a|b)c$",
    "(a|b$)",
    "^(a*)*b$",
    "^(a?b?)+$",
    "^(a|ab)(c|bcd)(d*)$",
    "^[a-c]{2,3}$",
    "^[^a-c]*$",
    r"^\w+-\d{2}$",
    "^(?:ab){0,2}c?$",
    "^(?<name>a)b$",
    "^a{0}b$",
    "^[ab-]$",
    "^$",
    "$",
    "a^",
    "^a.c$",
    "^[]$",
    r"^\$\^\.$",
    "^(|a)$",
    "^x*y{2,}$",
)
TEXTS = (
    "",
    "a",
    "b",
    "c",
    "ab",
    "ac",
    "bc",
    "abc",
    "abcd",
    "abcbcd",
    "aab",
    "abab",
    "ababc",
    "-",
    "x",
    "yy",
    "xyyy",
    "a\nc",
    "foo-12",
    "$^.",
    "xabcx",
    "zzz",
)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_mean_what_they_mean_elsewhere(pattern: str) -> None:
    ours = anchoring.whole_text(parser.parse(pattern))
    theirs = re.compile(pattern.replace("$", r"\Z").replace(r"\\Z", r"\$").replace("(?<name>", "(?P<name>").replace("[]", "(?!)"))
    if pattern == r"^\$\^\.$":
        theirs = re.compile(r"^\$\^\.\Z")
    span = lengths(ours)
    for text in TEXTS:
        found = theirs.search(text) is not None
        assert instances.matches(ours, text) == found, text
        if found:
            assert span is not None
            assert span[0] <= len(text)
            assert span[1] is None or len(text) <= span[1]


@given(st.sampled_from(PATTERNS), st.text("abcd-xy12", max_size=6))
def test_the_grammar_of_a_pattern_matches_the_same(pattern: str, text: str) -> None:
    ours = anchoring.whole_text(parser.parse(pattern))
    if lengths(ours) is None:
        assert not instances.matches(ours, text)
        return
    grammar = json_schema_to_gbnf({"type": "string", "pattern": pattern})
    assert matches(grammar, f'"{text}"') == instances.matches(ours, text)


def test_escapes() -> None:
    for pattern, text in (
        (r"^\x41\u0042\u{43}\cJ$", "ABC\n"),
        (r"^\uD83D\uDE00$", "😀"),
        (r"^[\b\-\]\\]+$", "\b-]\\"),
        (r"^[^]$", "\n"),
        (r"^\s\S\D\W$", "\u00a0xé-"),
        (r"^\0$", "\0"),
    ):
        assert instances.matches(anchoring.whole_text(parser.parse(pattern)), text), pattern


def test_a_pattern_never_breaks_the_string() -> None:
    grammar = json_schema_to_gbnf({"type": "string", "pattern": '^["\\\\/\n\t\x01]+$'})
    assert matches(grammar, r'"\"\\/\n\t\u0001"')
    for text in ('"""', '"\\"', '"\n"', r'"\u0022"'):
        assert not matches(grammar, text)
