"""Strategies for schemas of the supported subset, and for instances near them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

NAMES = ("a", "ab", "b", 'q"', "é")
OTHER_NAMES = ("", "a ", "abc", "c", "\n")
PATTERNS = ("^a", "b$", "^[ab]*$", "^a|b$", "a.b", "^\\d{1,2}$", "^(ab?|b)+$", '["\\\\]', "^[^ a]{2,}$", "^é|\\n")
NUMBERS = (-10, -3, -1, -0.5, 0, 0.25, 1, 1.5, 2, 3, 7, 9.75, 10, 12, 100)
TEXTS = ("", "a", "b", "ab", "ba", "aab", "abab", "7", "42", "123", 'a"b', "é", "\n", "a\\b", "😀", "  ", "a\u2028b")
SCALARS = st.one_of(st.none(), st.booleans(), st.sampled_from(NUMBERS), st.sampled_from(TEXTS))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES + OTHER_NAMES), inner, max_size=3)),
    max_leaves=5,
)


def some(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A few of these keywords."""
    return st.fixed_dictionaries({}, optional=keywords)


COUNTS = st.integers(0, 3)
NUMERIC = some(
    minimum=st.sampled_from(NUMBERS),
    maximum=st.sampled_from(NUMBERS),
    exclusiveMinimum=st.sampled_from(NUMBERS),
    exclusiveMaximum=st.sampled_from(NUMBERS),
    multipleOf=st.sampled_from((1, 2, 3, 0.5)),
)
TEXTUAL = some(minLength=COUNTS, maxLength=COUNTS, pattern=st.sampled_from(PATTERNS))


def listing(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return some(
        prefixItems=st.lists(inner, min_size=1, max_size=2),
        items=inner.filter(lambda schema: schema is not False),
        minItems=COUNTS,
        maxItems=COUNTS,
        contains=inner,
    )


def mapping(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    names = st.sampled_from(NAMES)
    return some(
        properties=st.dictionaries(names, inner, max_size=3),
        required=st.lists(names, max_size=2, unique=True),
        additionalProperties=inner,
        patternProperties=st.dictionaries(st.sampled_from(PATTERNS), inner, max_size=1),
        propertyNames=st.sampled_from(({"maxLength": 1}, {"pattern": "^a"}, {"enum": ["a", "c"]})),
        minProperties=st.integers(0, 2),
        maxProperties=st.integers(0, 3),
        dependentRequired=st.dictionaries(names, st.lists(names, max_size=1), max_size=1),
    )


def typed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Schemas that name their type, with keywords for it."""
    return st.one_of(
        st.sampled_from(({"type": "null"}, {"type": "boolean"}, {"type": ["string", "null"]}, {"type": ["integer", "boolean"]})),
        st.tuples(st.sampled_from(("integer", "number")), NUMERIC).map(lambda made: {"type": made[0], **made[1]}),
        TEXTUAL.map(lambda made: {"type": "string", **made}),
        listing(inner).map(lambda made: {"type": "array", **made}),
        mapping(inner).map(lambda made: {"type": "object", **made}),
        st.lists(VALUES, min_size=1, max_size=3).map(lambda made: {"enum": made}),
        VALUES.map(lambda made: {"const": made}),
    )


def combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A typed schema and combinations beside it."""
    loose = st.one_of(inner, TEXTUAL, NUMERIC, some(required=st.lists(st.sampled_from(NAMES), max_size=1), minItems=COUNTS))
    many = st.lists(inner, min_size=1, max_size=2)
    return st.tuples(
        typed(inner),
        st.one_of(
            some(anyOf=many, allOf=st.lists(loose, min_size=1, max_size=2)),
            some(oneOf=many),
            loose.map(lambda made: {"not": made}),
            st.tuples(loose, inner, inner).map(lambda made: {"if": made[0], "then": made[1], "else": made[2]}),
        ),
    ).map(lambda made: {**made[0], **made[1]})


SCHEMAS = st.recursive(
    st.one_of(st.just({}), st.just(True), st.just(False), typed(st.just({"type": "integer"}))),
    lambda inner: st.one_of(typed(inner), combined(inner)),
    max_leaves=4,
)


def spellings(value: Any, limit: int = 120) -> Iterator[str]:
    """A value in every order of its members, up to a limit."""
    return itertools.islice(_spelled(value), limit)


def _spelled(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for order in itertools.permutations(value):
            for inner in itertools.product(*(list(itertools.islice(_spelled(value[name]), 12)) for name in order)):
                members = (f"{json.dumps(name, ensure_ascii=False)}: {text}" for name, text in zip(order, inner, strict=True))
                yield "{" + ", ".join(members) + "}"
    elif isinstance(value, list):
        for inner in itertools.product(*(list(itertools.islice(_spelled(item), 12)) for item in value)):
            yield "[" + ", ".join(inner) + "]"
    elif isinstance(value, float) and value.is_integer():
        yield str(int(value))
    else:
        yield json.dumps(value, ensure_ascii=False)


def near(value: Any) -> st.SearchStrategy[Any]:
    """The value, or one that differs from it a little."""
    others: list[Any] = [value, None]
    if isinstance(value, str):
        others += [value + "a", value[:-1], value[::-1]]
    elif isinstance(value, bool):
        others.append(not value)
    elif isinstance(value, int | float):
        others += [value + 1, value - 1, value + 0.5, -value]
    elif isinstance(value, list):
        others += [[*value, 1], value[1:], [*value, *value][:4]]
    elif isinstance(value, dict):
        others += [{**value, "a": 1}, {**value, "c": None}, dict(list(value.items())[1:])]
    return st.sampled_from(others)
