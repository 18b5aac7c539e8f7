from __future__ import annotations

import datetime as dt
import ipaddress
import json
import random
import uuid
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from llama_cpp._features.grammar.schema import json_schema_to_gbnf
from llama_cpp._features.grammar.schema.formats import ANNOTATIONS, PATTERNS
from tests.package.features.grammar.recognizer import Sampler, matches


def moment(text: str) -> dt.datetime:
    assert text.endswith("Z") or text[-6] in "+-"
    main, dot, rest = text.partition(".")
    digits = rest.rstrip("0123456789:Z+-") if dot else ""
    assert not digits
    zone = "+00:00" if text.endswith("Z") else text[-6:]
    return dt.datetime.fromisoformat(main.removesuffix("Z")[:19] + zone)


READERS: dict[str, Callable[[str], Any]] = {
    "date": dt.date.fromisoformat,
    "time": lambda text: moment(f"2000-01-01T{text}"),
    "date-time": moment,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "uuid": uuid.UUID,
    "uri": lambda text: urlsplit(text).scheme or pytest.fail(text),
}
EXAMPLES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "date": (
        ("2024-02-29", "2000-02-29", "1999-12-31", "0001-01-01"),
        ("2023-02-29", "1900-02-29", "0000-01-01", "2024-04-31", "2024-1-1"),
    ),
    "time": (("00:00:00Z", "23:59:59.999+01:30"), ("24:00:00Z", "12:00:00", "12:60:00Z", "12:00:00z")),
    "date-time": (("2024-02-29T12:00:00Z",), ("2024-02-30T12:00:00Z", "2024-02-29 12:00:00Z")),
    "duration": (("P1Y2M3D", "PT1H2M3S", "P4W", "P1DT12H", "PT0S"), ("P", "PT", "P1H", "P1Y3D", "1D", "P1W2D")),
    "uuid": (("123e4567-e89b-12d3-A456-426614174000",), ("123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g")),
    "email": (("a@b", "first.last+tag@example.co.uk"), ("a", "@b", "a@", "a..b@c", "a@-b", "a b@c")),
    "hostname": (("localhost", "a-b.example.com", "1.2.3"), ("", "-a", "a-", "a..b", "a_b", "x" * 64)),
    "ipv4": (("10.0.0.0", "255.255.255.255", "1.20.30.200"), ("256.1.1.1", "1.1.1", "01.1.1.1", "1.1.1.1.1")),
    "ipv6": (
        ("::", "::1", "1::", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1:2::7:8"),
        ("1:2:3", ":::", "1::2::3", "12345::", "1:2:3:4:5:6:7:8:9"),
    ),
    "uri": (
        ("http://example.org/a?b#c", "urn:isbn:1", "mailto:a@b.c", "http://[::1]:80/"),
        ("example", "/a", "http://a b", "1a:b", "http://%zz"),
    ),
    "uri-reference": (("a/b", "", "../x?y#z", "//host/p", "http://a"), ("a b", "%zz", "a^b", "1:2")),
    "json-pointer": (("", "/a/b~0c~1", "/"), ("a", "/~2", "/~")),
    "relative-json-pointer": (("0", "1/a", "2#"), ("/a", "01", "-1", "1a")),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_examples_of_each_format(name: str) -> None:
    grammar = json_schema_to_gbnf({"type": "string", "format": name})
    good, bad = EXAMPLES[name]
    assert {text: matches(grammar, f'"{text}"') for text in (*good, *bad)} == {**dict.fromkeys(good, True), **dict.fromkeys(bad, False)}


@pytest.mark.parametrize("name", READERS)
def test_other_readers_take_what_is_written(name: str) -> None:
    sampler = Sampler(json_schema_to_gbnf({"type": "string", "format": name}), random.Random(name))  # noqa: S311 - samples
    for _ in range(60):
        READERS[name](json.loads(sampler.text()))


@pytest.mark.parametrize("name", sorted(ANNOTATIONS))
def test_annotations_constrain_nothing(name: str) -> None:
    assert json_schema_to_gbnf({"type": "string", "format": name}) == json_schema_to_gbnf({"type": "string"})


def test_formats_of_strings_do_not_touch_other_types() -> None:
    assert json_schema_to_gbnf({"type": "integer", "format": "date"}) == json_schema_to_gbnf({"type": "integer"})
    grammar = json_schema_to_gbnf({"type": "string", "format": "date", "maxLength": 10, "pattern": "^2024"})
    assert [matches(grammar, text) for text in ('"2024-02-29"', '"2023-01-01"')] == [True, False]
