"""Random tokens offered to random grammars: each is taken or refused, and nothing ends the process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp import _internals
from llama_cpp.errors import GrammarError

if TYPE_CHECKING:
    from llama_cpp import Llama

# Grammars in which text and named tokens stand side by side: what native code passes there and then fails at.
PARTS = st.sampled_from(
    ['"h"', '"he"', "[a-z]", "[^h]", ".", "<[261]>", "!<[261]>", "<|im_start|>", "!<|im_end|>", '("t" | <[263]>)', '("é")?', "[é-ü]*"]
)
SEQUENCES = st.lists(st.tuples(PARTS, st.sampled_from(["", "", "*", "+", "?", "{2}"])).map("".join), min_size=1, max_size=5).map(" ".join)
GRAMMARS = st.lists(SEQUENCES, min_size=1, max_size=3).map(lambda options: f"root ::= {' | '.join(options)}")
TOKENS = st.lists(st.sampled_from([2, 4, 3, 261, 262, 263, 264]) | st.integers(5, 362), max_size=24)


def take(sampler: Any, token: int) -> bool:
    """Whether the sampler takes the token, as it said before."""
    allowed = bool(sampler.allows(token))
    try:
        sampler.accept(token)
    except GrammarError:
        assert not allowed
    else:
        assert allowed
    return allowed


@given(grammar=GRAMMARS, tokens=TOKENS)
def test_every_token_is_taken_or_refused(shared_synthetic: Llama, grammar: str, tokens: list[int]) -> None:
    try:
        sampler = _internals.GrammarSampler(shared_synthetic._model, grammar)
    except GrammarError:
        return  # ("é")?* is refused: it may repeat nothing
    with sampler, sampler.clone() as copy:
        taken = [take(sampler, token) for token in tokens]
        sampler.reset()
        assert [take(sampler, token) for token in tokens] == taken
        assert [take(copy, token) for token in tokens] == taken


@given(grammar=GRAMMARS, tokens=TOKENS, triggers=st.lists(st.sampled_from(["h", "(e)", "t.", "[é-ü]", 261, 3]), min_size=1, max_size=3))
def test_so_it_is_while_a_grammar_sleeps(shared_synthetic: Llama, grammar: str, tokens: list[int], triggers: list[str | int]) -> None:
    try:
        sampler = _internals.GrammarSampler(shared_synthetic._model, grammar, lazy=True, triggers=triggers)
    except GrammarError:
        return
    with sampler:
        taken = [take(sampler, token) for token in tokens]
        sampler.reset()
        assert [take(sampler, token) for token in tokens] == taken


def test_after_the_end_it_says_so(synthetic: Llama) -> None:
    sampler = _internals.GrammarSampler(synthetic._model, 'root ::= "a"')
    sampler.close()
    with pytest.raises(RuntimeError, match="closed"):
        sampler.accept(5)
