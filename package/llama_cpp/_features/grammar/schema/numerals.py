"""Numbers within exact bounds: conditions on the digits of a decimal spelling, for automata.

Numbers are written without an exponent and without leading zeros once anything but their sign is constrained. Bounds are
compared as decimals, digit for digit. Fractions hold what floats need, and do not go on without end: a model would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from llama_cpp._features.errors import UnsupportedSchemaError
from llama_cpp._features.grammar.schema import automaton, codepoints
from llama_cpp._features.grammar.schema.automaton import Automaton, Loops, State
from llama_cpp._features.grammar.schema.codepoints import Ranges
from llama_cpp._features.grammar.tree import Characters, Choice, Literal, Node, Repetition
from llama_cpp._features.grammar.tree import Sequence as InOrder

SPELLING: Ranges = codepoints.of("-.0123456789")
MAX_DIVISOR = 2_000
MAX_DIGITS = 1_000
MAX_FRACTION = 20
"""Digits of a fraction, behind its leading zeros where bounds matter; and of what stands before the point where an exponent may follow.

A float has 17 significant ones. Integers and bounded numbers may be of any width.
"""
MAX_EXPONENT = 3
FLOAT_DIGITS = 15
"""Decimals of so many digits are told apart by floats."""

DIGIT: Node = Characters(((0x30, 0x39),))
FRACTION: Node = InOrder((Literal("."), Repetition(DIGIT, 1, MAX_FRACTION)))


def exponent_node(digits: int) -> Node:
    """An exponent of at most so many digits."""
    return InOrder((Characters(codepoints.of("eE")), Repetition(Characters(codepoints.of("+-")), 0, 1), Repetition(DIGIT, 1, digits)))


EXPONENT = exponent_node(MAX_EXPONENT)

_LESS, _EQUAL, _GREATER = -1, 0, 1


@dataclass(frozen=True, slots=True)
class Bound:
    """A limit, and whether it is allowed itself."""

    value: Fraction
    included: bool


@dataclass(frozen=True, slots=True)
class Interval:
    """What numbers have to satisfy. `whole`: True for integers only, False for others only."""

    low: Bound | None = None
    high: Bound | None = None
    whole: bool | None = None
    divisors: tuple[Fraction, ...] = ()
    not_divisors: tuple[Fraction, ...] = ()
    excluded: tuple[Fraction, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether the bounds leave nothing."""
        if self.low is None or self.high is None:
            return False
        if self.low.value == self.high.value:
            return not (self.low.included and self.high.included)
        return self.low.value > self.high.value

    @property
    def free(self) -> bool:
        """Whether any number is allowed, or any integer."""
        return self == Interval(whole=self.whole) and self.whole is not False

    def allows(self, value: Fraction) -> bool:
        """Whether a number satisfies it."""
        if self.low and (value < self.low.value or (value == self.low.value and not self.low.included)):
            return False
        if self.high and (value > self.high.value or (value == self.high.value and not self.high.included)):
            return False
        if self.whole is not None and (value.denominator == 1) != self.whole:
            return False
        if any((value / divisor).denominator != 1 for divisor in self.divisors) or value in self.excluded:
            return False
        return all((value / divisor).denominator != 1 for divisor in self.not_divisors)


def exact(value: float | Decimal) -> Fraction:
    """A number of JSON as the decimal that it is written as. `UnsupportedSchemaError` for infinities and what has too many digits."""
    decimal = value if isinstance(value, Decimal) else None if isinstance(value, int) else Decimal(repr(value))
    large = isinstance(value, int) and value.bit_length() > MAX_DIGITS * 3
    if large or (decimal is not None and (not decimal.is_finite() or abs(decimal.adjusted()) > MAX_DIGITS)):
        raise UnsupportedSchemaError("number", "#", f"numbers must be finite and have at most {MAX_DIGITS} digits")
    return Fraction(value if decimal is None else decimal)


def tighter_low(one: Bound | None, other: Bound | None) -> Bound | None:
    """The stricter of two lower limits."""
    if one is None or other is None:
        return one or other
    if one.value == other.value:
        return one if not one.included else other
    return one if one.value > other.value else other


def tighter_high(one: Bound | None, other: Bound | None) -> Bound | None:
    """The stricter of two upper limits."""
    if one is None or other is None:
        return one or other
    if one.value == other.value:
        return one if not one.included else other
    return one if one.value < other.value else other


def signed(interval: Interval) -> Node | None:
    """Numbers of one sign, exponents included; None when more than the sign is constrained."""
    low, high = interval.low, interval.high
    if interval.whole is not None or interval.divisors or interval.not_divisors or interval.excluded:
        return None
    if (low is None) == (high is None):
        return None
    bound = low or high
    if bound is None or bound.value != 0:
        return None
    first = Characters(((0x31, 0x39),))
    zeros, digits = Repetition(Literal("0"), 0, MAX_FRACTION), Repetition(DIGIT, 0, MAX_FRACTION)
    # Where zero is excluded, no float may round to it.
    exponent = Repetition(exponent_node(MAX_EXPONENT if bound.included else MAX_EXPONENT - 1), 0, 1)
    fraction = Repetition(FRACTION, 0, 1)
    size = InOrder((Choice((InOrder((first, digits, fraction)), InOrder((Literal("0."), zeros, first, digits)))), exponent))
    options: list[Node] = [size if low is not None else InOrder((Literal("-"), size))]
    if bound.included:
        zero = InOrder((Literal("0"), Repetition(InOrder((Literal("."), Repetition(Literal("0"), 1, MAX_FRACTION))), 0, 1), exponent))
        options.append(InOrder((Repetition(Literal("-"), 0, 1), zero)))
    return options[0] if len(options) == 1 else Choice(tuple(options))


def endless(machine: Automaton, interval: Interval) -> Loops:
    """The states behind the point, where fractions would go on without end.

    Beside an excluded value they are so short that no float rounds to it.
    """
    bounds = [bound.value for bound in (interval.low, interval.high) if bound and not bound.included]
    excluded = [len("".join(_decimal_digits(abs(value)))) for value in (*bounds, *interval.excluded)]
    most = max(1, FLOAT_DIGITS - 1 - max(excluded)) if excluded else MAX_FRACTION
    point = codepoints.of(".")
    waiting = [to for row in machine.moves for to, characters in row.items() if codepoints.intersection(characters, point)]
    found: set[int] = set()
    while waiting:
        state = waiting.pop()
        if state not in found:
            found.add(state)
            waiting.extend(machine.moves[state])
    return Loops(states=frozenset(found), most=most)


def spellings(interval: Interval) -> Automaton:
    """The automaton of all spellings of the numbers in an interval. `TooManyStatesError` when that is too large."""
    machines: list[automaton.Machine] = [_Shape(whole=interval.whole)]
    if interval.low:
        machines.append(_Compared(interval.low.value, {_GREATER, _EQUAL} if interval.low.included else {_GREATER}))
    if interval.high:
        machines.append(_Compared(interval.high.value, {_LESS, _EQUAL} if interval.high.included else {_LESS}))
    machines.extend(_Compared(value, {_LESS, _GREATER}) for value in interval.excluded)
    machines.extend(_Multiple(divisor, negated=False) for divisor in interval.divisors)
    machines.extend(_Multiple(divisor, negated=True) for divisor in interval.not_divisors)
    return automaton.build(machines, whole=SPELLING)


class _Digits:
    """A machine that sees characters."""

    def __init__(self) -> None:
        self._characters: list[str] = []

    @property
    def sets(self) -> Sequence[Ranges]:
        """Each character by itself."""
        return [codepoints.of(character) for character in "-.0123456789"]

    def start(self, alphabet: Sequence[Ranges]) -> State:
        self._characters = [chr(part[0][0]) for part in alphabet]
        return self.first()

    def step(self, state: State, letter: int) -> State | None:
        return self.read(state, self._characters[letter])

    def first(self) -> State:
        raise NotImplementedError

    def read(self, state: State, character: str) -> State | None:
        raise NotImplementedError


class _Shape(_Digits):
    """-?(0|[1-9][0-9]*)(.[0-9]+)?; for integers no fraction, for other numbers one that is not zero."""

    def __init__(self, *, whole: bool | None) -> None:
        super().__init__()
        self._whole = whole

    def first(self) -> State:
        return "begin"

    def read(self, state: State, character: str) -> State | None:
        if character == "-":
            return "sign" if state == "begin" else None
        if character == ".":
            return "point" if state in ("zero", "digits") and not self._whole else None
        if state in ("begin", "sign"):
            return "zero" if character == "0" else "digits"
        if state == "zero":
            return None
        if state == "digits":
            return state
        return "fraction" if character != "0" or state == "fraction" else "zeros"

    def accepts(self, state: State) -> bool:
        return state == "fraction" if self._whole is False else state in ("zero", "digits", "fraction", "zeros")


class _Compared(_Digits):
    """Compares with a bound: a state is (negative, integer digits read or -1 behind the point, fraction digits, order of what was read).

    Only decimals have an end to compare with; every bound in JSON is one.
    """

    def __init__(self, bound: Fraction, orders: set[int]) -> None:
        super().__init__()
        self._orders = orders
        self._negative = bound < 0
        whole, fraction = _decimal_digits(abs(bound))
        self._whole = whole
        self._fraction = fraction
        self._zero = bound == 0

    def first(self) -> State:
        return (False, 0, 0, _EQUAL)

    def read(self, state: State, character: str) -> State | None:
        assert isinstance(state, tuple)  # noqa: S101 - for the type checker
        negative, count, behind, order = state
        if character == "-":
            return (True, count, behind, order)
        if count < 0:
            if order == _EQUAL:
                order = _order(character, self._fraction[behind] if behind < len(self._fraction) else "0")
                behind = min(behind + 1, len(self._fraction))
            return (negative, -1, behind if order == _EQUAL else 0, order)
        if character == ".":
            return (negative, -1, 0, self._at_point(count, order))
        if count < len(self._whole):
            order = order or _order(character, self._whole[count])
        return (negative, min(count + 1, len(self._whole) + 1), 0, order)

    def _at_point(self, count: int, order: int) -> int:
        """The order of the integer parts."""
        return _LESS if count < len(self._whole) else _GREATER if count > len(self._whole) else order

    def accepts(self, state: State) -> bool:
        assert isinstance(state, tuple)  # noqa: S101 - for the type checker
        negative, count, behind, order = state
        if count >= 0:
            order, behind = self._at_point(count, order), 0
        if order == _EQUAL and any(digit != "0" for digit in self._fraction[behind:]):
            order = _LESS
        # `order` compares absolute values. Where signs differ, only two zeros are equal.
        if negative != self._negative:
            if not (self._zero and order == _EQUAL):
                order = _LESS if negative else _GREATER
        elif negative:
            order = -order
        return order in self._orders


class _Multiple(_Digits):
    """Multiples of a decimal: a state is (behind the point, fraction digits read, remainder)."""

    def __init__(self, divisor: Fraction, *, negated: bool) -> None:
        super().__init__()
        whole, fraction = _decimal_digits(divisor)
        self._places = len(fraction)
        self._divisor = int(whole + fraction)
        self._negated = negated
        if self._divisor > MAX_DIVISOR:
            raise automaton.TooManyStatesError(f"a divisor with more than {MAX_DIVISOR} steps")

    def first(self) -> State:
        return (False, 0, 0)

    def read(self, state: State, character: str) -> State | None:
        assert isinstance(state, tuple)  # noqa: S101 - for the type checker
        behind, count, remainder = state
        if character == "-":
            return state
        if character == ".":
            return (True, 0, remainder)
        if not behind or (count < self._places and remainder >= 0):
            return (behind, count + behind, (remainder * 10 + int(character)) % self._divisor)
        if remainder < 0 or character == "0":
            return state
        return (True, 0, -1) if self._negated else None

    def accepts(self, state: State) -> bool:
        assert isinstance(state, tuple)  # noqa: S101 - for the type checker
        _, count, remainder = state
        multiple: bool = remainder >= 0 and remainder * 10 ** (self._places - count) % self._divisor == 0
        return multiple != self._negated


def _order(character: str, other: str) -> int:
    return (character > other) - (character < other)


def _decimal_digits(value: Fraction) -> tuple[str, str]:
    """The digits before and behind the point of a decimal that is not negative."""
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    digits = str(int(value * 10**places)).rjust(places + 1, "0")
    return digits[: len(digits) - places], digits[len(digits) - places :]
