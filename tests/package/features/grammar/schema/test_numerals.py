from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.rig import profiles
from llama_cpp._features.grammar.schema import json_schema_to_gbnf
from llama_cpp._features.grammar.schema.numerals import Bound, Interval, exact, spellings
from tests.package.features.grammar.recognizer import matches

DECIMALS = st.builds(lambda digits, places: Fraction(digits, 10**places), st.integers(-1200, 1200), st.integers(0, 3))
BOUNDS = st.one_of(st.none(), st.builds(Bound, DECIMALS, st.booleans()))
DIVISORS = st.sampled_from([(), (), (Fraction(3),), (Fraction(1, 20),), (Fraction(5, 2),)])
INTERVALS = st.builds(
    Interval,
    low=BOUNDS,
    high=BOUNDS,
    whole=st.sampled_from([None, True, False]),
    divisors=DIVISORS,
    not_divisors=DIVISORS,
    excluded=st.lists(DECIMALS, max_size=2).map(tuple),
)
SPELLED = st.builds(
    lambda sign, whole, fraction: f"{sign}{whole}{fraction}",
    st.sampled_from(["", "-"]),
    st.integers(0, 1300),
    st.sampled_from(["", ".0", ".5", ".05", ".950", ".25", ".999", ".0010"]),
)


@settings(max_examples=profiles.examples(40))
@given(INTERVALS, st.lists(SPELLED, min_size=20, max_size=40))
def test_spellings_are_those_of_the_numbers_within(interval: Interval, texts: list[str]) -> None:
    machine = spellings(interval)
    near = [str(bound.value.numerator) for bound in (interval.low, interval.high) if bound and bound.value.denominator == 1]
    for text in [*texts, *near]:
        written = interval.whole is True and "." in text
        assert machine.matches(text) == (interval.allows(Fraction(text)) and not written), text


def test_only_canonical_digits_are_spelled() -> None:
    machine = spellings(Interval(low=Bound(Fraction(-5), included=True)))
    assert [machine.matches(text) for text in ("-0", "00", "01", "+1", "1.", ".5", "-", "", "1e5", "--1", "1.5.5")] == [True] + [False] * 10


def test_bounds_of_any_width() -> None:
    low, high = 10**40 + 7, 10**41
    grammar = json_schema_to_gbnf({"type": "integer", "minimum": low, "exclusiveMaximum": high})
    expected = {low - 1: False, low: True, low * 5: True, high - 1: True, high: False, high * 10: False, 12: False, -low: False}
    assert {value: matches(grammar, str(value)) for value in expected} == expected


def test_floats_are_the_decimals_that_they_are_written_as() -> None:
    assert exact(0.1) == Fraction(1, 10)
    grammar = json_schema_to_gbnf({"type": "number", "minimum": 0.1, "maximum": 1e-1 * 3})
    assert [matches(grammar, text) for text in ("0.1", "0.0999", "0.2", "0.30000000000000003", "0.30000000000000005")] == [
        True,
        False,
        True,
        True,
        False,
    ]


def test_a_bound_at_zero_leaves_exponents() -> None:
    grammar = json_schema_to_gbnf({"type": "number", "minimum": 0})
    assert [matches(grammar, text) for text in ("0", "-0", "-0.0e5", "1e-7", "0.5E+3", "-1e3")] == [True, True, True, True, True, False]
    grammar = json_schema_to_gbnf({"type": "number", "exclusiveMaximum": 0})
    assert [matches(grammar, text) for text in ("0", "-0", "-0.001", "-2e9", "2")] == [False, False, True, True, False]


def test_no_float_rounds_to_an_excluded_bound() -> None:
    for schema, text in (
        ({"type": "number", "exclusiveMaximum": -1}, "-1.000000000000000000001"),
        ({"type": "number", "exclusiveMaximum": 1}, "0.99999999999999999999"),
        ({"type": "number", "exclusiveMinimum": 0}, "1e-999"),
    ):
        assert not matches(json_schema_to_gbnf(schema), text)
    grammar = json_schema_to_gbnf({"type": "number", "exclusiveMaximum": 1})
    assert [matches(grammar, text) for text in ("0.9999999", "0.1234567890123", "1", "1.0")] == [True, True, False, False]


def test_fractions_are_not_endless() -> None:
    for schema in ({"type": "number"}, {"type": "number", "minimum": 0, "maximum": 100}, {"type": "number", "exclusiveMinimum": 0}):
        grammar = json_schema_to_gbnf(schema)
        floats = ("0.30000000000000004", "1.7976931348623157", "0.00012345678901234567", "99.99999999999999")
        assert [matches(grammar, text) for text in floats] == [True] * 4
        assert not matches(grammar, "0." + "0" * 99)
        assert not matches(grammar, "1." + "3" * 60)
    assert not matches(json_schema_to_gbnf({"type": "number"}), "1e0000")
