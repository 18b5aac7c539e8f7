"""Log-probabilities beside the text: each token once, in order, with the place of its text, however it is taken."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._features.completion.logprob_text import LogprobText, joined
from llama_cpp._features.sampling.logprobs import TokenLogprobs


def entry(token: int) -> TokenLogprobs:
    return TokenLogprobs(token=token, logprob=-0.5, top=((token, -0.5),))


def test_offsets_count_characters_from_the_start() -> None:
    pieces = {0: "é".encode(), 1: b"\xe2", 2: b"\x82", 3: b"\xac!", 4: b"x"}
    text = LogprobText(pieces.__getitem__, start=10)
    for token in pieces:
        text.add(entry(token))
    taken = text.take()
    assert taken is not None
    assert taken["text_offset"] == [10, 11, 11, 11, 13]
    assert taken["tokens"] == ["é", "\ufffd", "\ufffd", "\ufffd!", "x"]


def test_tokens_are_taken_with_the_text_that_begins_them() -> None:
    text = LogprobText({0: b"ab", 1: b"cd"}.__getitem__, start=0)
    text.add(entry(0))
    text.add(entry(1))
    assert text.take(0) is None
    first = text.take(2)
    assert first is not None
    assert first["tokens"] == ["ab"]
    rest = text.take(3)
    assert rest is not None
    assert rest["tokens"] == ["cd"]
    assert text.take() is None


@given(st.lists(st.binary(max_size=3), max_size=10), st.lists(st.integers(0, 12), max_size=6))
def test_parts_join_to_the_whole(pieces: list[bytes], cuts: list[int]) -> None:
    whole, parted = LogprobText(pieces.__getitem__, start=0), LogprobText(pieces.__getitem__, start=0)
    for token in range(len(pieces)):
        whole.add(entry(token))
        parted.add(entry(token))
    parts = [part for cut in (*sorted(cuts), None) if (part := parted.take(cut)) is not None]
    assert joined(parts) == whole.take()


def test_the_chosen_token_is_always_among_the_likeliest_and_equal_texts_count_once() -> None:
    text = LogprobText({0: b"\xe2", 1: b"\xe3", 2: b"a"}.__getitem__, start=0)
    text.add(TokenLogprobs(token=2, logprob=-3.0, top=((0, -0.1), (1, -0.2))))
    text.add(TokenLogprobs(token=2, logprob=None, top=()))
    taken = text.take()
    assert taken is not None
    assert taken["top_logprobs"] == [{"\ufffd": -0.1, "a": -3.0}, None]
