"""The text state machine against a one-line definition of what it must produce."""

from __future__ import annotations

import itertools

from hypothesis import example, given
from hypothesis import strategies as st

from llama_cpp._features.completion.text_assembly import TextAssembly

SMALL_ALPHABET = st.text(alphabet="ab\né🦙", max_size=30)
STOPS = st.lists(st.text(alphabet="ab\né🦙\ufffd", max_size=5), max_size=4)


def expected_text(data: bytes, stops: list[str]) -> tuple[str, bool]:
    text = data.decode("utf-8", errors="replace")
    begins = [text.find(stop) for stop in stops if stop and stop in text]
    return (text[: min(begins)], True) if begins else (text, False)


def split(data: bytes, cuts: list[int]) -> list[bytes]:
    bounds = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(bounds)]


def assemble(pieces: list[bytes], stops: list[str]) -> tuple[list[str], TextAssembly]:
    assembly = TextAssembly(stops)
    deltas = [assembly.feed(piece) for piece in pieces]
    deltas.append(assembly.finish())
    return deltas, assembly


@given(SMALL_ALPHABET, STOPS, st.lists(st.integers(0, 200), max_size=12))
@example("xabcd", ["bc", "abcd"], [4])
@example("xabce", ["bc", "abcd"], [4])
def test_joined_deltas_are_the_text_before_the_earliest_stop(text: str, stops: list[str], cuts: list[int]) -> None:
    data = text.encode()
    deltas, assembly = assemble(split(data, cuts), stops)
    assert ("".join(deltas), assembly.stopped) == expected_text(data, stops)


@given(st.binary(max_size=40), st.lists(st.integers(0, 200), max_size=12))
def test_invalid_bytes_are_replaced_as_a_decode_of_the_whole_would(data: bytes, cuts: list[int]) -> None:
    deltas, _ = assemble(split(data, cuts), [])
    assert "".join(deltas) == data.decode("utf-8", errors="replace")


@given(st.lists(st.sampled_from([b"\xe2", b"\x82", b"\xac", b"\xc3", b"\xa9", b"\xff", b"a", b"b"]), max_size=20), STOPS)
def test_byte_wise_pieces_of_broken_text_with_stops(pieces: list[bytes], stops: list[str]) -> None:
    deltas, assembly = assemble(pieces, stops)
    assert ("".join(deltas), assembly.stopped) == expected_text(b"".join(pieces), stops)


@given(SMALL_ALPHABET, STOPS)
def test_the_order_of_the_stops_does_not_matter(text: str, stops: list[str]) -> None:
    pieces = [bytes([byte]) for byte in text.encode()]
    forwards, _ = assemble(pieces, stops)
    backwards, _ = assemble(pieces, stops[::-1])
    assert forwards == backwards


@given(SMALL_ALPHABET, STOPS)
def test_only_the_beginning_of_a_stop_is_held_back(text: str, stops: list[str]) -> None:
    assembly = TextAssembly(stops)
    shown = ""
    for end, char in enumerate(text, start=1):
        shown += assembly.feed(char.encode())
        if assembly.stopped:
            break
        held = text[:end][len(shown) :]
        assert not held or any(stop.startswith(held) for stop in stops)


def test_nothing_is_shown_after_a_stop() -> None:
    assembly = TextAssembly(["END"])
    assert assembly.feed(b"one END two") == "one "
    assert assembly.stopped
    assert assembly.feed(b"three") == ""
    assert assembly.finish() == ""


def test_an_unfinished_character_waits_for_its_rest() -> None:
    assembly = TextAssembly()
    euro = "€".encode()
    assert assembly.feed(b"1 " + euro[:2]) == "1 "
    assert assembly.feed(euro[2:]) == "€"


def test_a_stop_that_overlaps_itself() -> None:
    deltas, assembly = assemble([b"a", b"a", b"a", b"b", b"c"], ["aab"])
    assert "".join(deltas) == "a"
    assert assembly.stopped


def test_empty_stops_are_ignored() -> None:
    deltas, assembly = assemble([b"ab"], ["", ""])
    assert deltas == ["ab", ""]
    assert not assembly.stopped


def test_special_characters_in_stops_are_literal() -> None:
    deltas, _ = assemble([b"a-]^", b"\\b"], ["]^\\"])
    assert "".join(deltas) == "a-"
