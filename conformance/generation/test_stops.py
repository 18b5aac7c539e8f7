"""Stop strings: the one that starts first in the text wins, and streaming shows not one character of it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rig import profiles
from rig.generation import GREEDY, PROMPT, cut_at_first_stop, finish_reason, joined, text

if TYPE_CHECKING:
    from llama_cpp import Llama

N_TOKENS = 20
PROPERTY = settings(
    max_examples=profiles.examples(25),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@cache
def whole_text(llama: Llama) -> str:
    """The text without stops."""
    produced = text(llama.create_completion(PROMPT, max_tokens=N_TOKENS, **GREEDY))
    assert len(produced) > 10
    return produced


def expected(llama: Llama, stops: list[str]) -> tuple[str, str | None]:
    """Text and reason that `stops` leave; None where the model itself may have ended."""
    whole = whole_text(llama)
    cut = cut_at_first_stop(whole, stops)
    return cut, "stop" if cut != whole else None


def check(llama: Llama, stops: list[str]) -> None:
    produced, reason = expected(llama, stops)
    given_stops = list(stops)
    whole = llama.create_completion(PROMPT, max_tokens=N_TOKENS, stop=given_stops, **GREEDY)
    streamed = joined(llama.create_completion(PROMPT, max_tokens=N_TOKENS, stop=given_stops, stream=True, **GREEDY))
    assert text(whole) == produced
    assert reason is None or finish_reason(whole) == reason
    assert streamed == (text(whole), finish_reason(whole))
    assert given_stops == stops


@pytest.mark.parametrize("stops", [[], [""], ["", ""]], ids=["none", "empty", "empties"])
def test_no_stop_or_an_empty_one_changes_nothing(synthetic: Llama, stops: list[str]) -> None:
    check(synthetic, stops)


def test_one_string_is_a_list_of_one(synthetic: Llama) -> None:
    stop = whole_text(synthetic)[4:9]
    by_string = synthetic.create_completion(PROMPT, max_tokens=N_TOKENS, stop=stop, **GREEDY)
    assert text(by_string) == cut_at_first_stop(whole_text(synthetic), [stop])


def test_earliest_in_the_text_wins_whatever_the_order(synthetic: Llama) -> None:
    whole = whole_text(synthetic)
    early, late = whole[3:6], whole[-6:-2]
    check(synthetic, [late, early])
    check(synthetic, [early, late])


def test_stop_that_begins_the_text_leaves_nothing(synthetic: Llama) -> None:
    check(synthetic, [whole_text(synthetic)[:3]])


def test_beginning_of_a_stop_at_the_very_end_is_given_out(synthetic: Llama) -> None:
    check(synthetic, [whole_text(synthetic)[-2:] + "\x01never"])


def stops_within(whole: str) -> st.SearchStrategy[list[str]]:
    """Pieces of the text, pieces with a wrong continuation, and strings that have nothing to do with it."""
    places = st.tuples(st.integers(0, len(whole) - 1), st.integers(1, 12))
    piece = places.map(lambda place: whole[place[0] : place[0] + place[1]])
    near_miss = st.tuples(piece, st.characters(exclude_categories=["Cs"])).map("".join)
    return st.lists(st.one_of(piece, near_miss, st.text(st.characters(exclude_categories=["Cs"]), max_size=3)), max_size=4)


@PROPERTY
@given(data=st.data())
def test_any_stops_on_a_synthetic_model(data: st.DataObject, shared_synthetic: Llama) -> None:
    check(shared_synthetic, data.draw(stops_within(whole_text(shared_synthetic))))


@pytest.mark.once_per_wheel
@settings(PROPERTY, max_examples=profiles.examples(12))
@given(data=st.data())
def test_any_stops_on_smollm2(data: st.DataObject, smollm2: Llama) -> None:
    check(smollm2, data.draw(stops_within(whole_text(smollm2))))
