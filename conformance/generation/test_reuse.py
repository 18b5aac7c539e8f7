"""What an earlier call left in memory saves work and never changes the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rig import material
from rig.generation import GREEDY, PROMPT, text

from llama_cpp import Llama

if TYPE_CHECKING:
    from collections.abc import Iterator

N_TOKENS = 12

STEPS = {
    "the same again": [PROMPT, PROMPT],
    "continued": [PROMPT, PROMPT + " there lived an old fisherman"],
    "shortened": [PROMPT + " there lived an old fisherman", PROMPT],
    "forked": [PROMPT + " there lived", PROMPT + " nobody knew"],
    "unrelated": [PROMPT, "def main():\n    print("],
    "there and back": [PROMPT, "Completely different", PROMPT],
}


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
@pytest.mark.every_processor
def test_text_equals_that_from_scratch(text_model: Llama, steps: list[str]) -> None:
    due = []
    for prompt in steps:
        text_model.reset()
        due.append(text(text_model.create_completion(prompt, max_tokens=N_TOKENS, **GREEDY)))
    text_model.reset()
    assert [text(text_model.create_completion(prompt, max_tokens=N_TOKENS, **GREEDY)) for prompt in steps] == due


def test_conversation_grows_as_from_scratch(text_model: Llama) -> None:
    """Each turn's prompt holds the former prompt and its answer, as chats do."""
    prompt = PROMPT
    for question in (" And then", " Later on", " At last"):
        answer = text(text_model.create_completion(prompt, max_tokens=N_TOKENS, **GREEDY))
        prompt += answer + question
    reused = text(text_model.create_completion(prompt, max_tokens=N_TOKENS, **GREEDY))
    text_model.reset()
    assert reused == text(text_model.create_completion(prompt, max_tokens=N_TOKENS, **GREEDY))


@pytest.fixture(scope="module")
def rewindable() -> Iterator[Llama]:
    """A hybrid model that keeps recurrent states to go back to: native code then says yes to more than it can do."""
    with Llama(str(material.model(material.SYNTH_LFM2)), n_ctx=256, n_rs_seq=4, n_threads=2, verbose=False) as llama:
        yield llama


@pytest.mark.parametrize("cut", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("produced", [1, 3, 6])
def test_going_back_in_a_recurrent_state(rewindable: Llama, produced: int, cut: int) -> None:
    tokens = rewindable.tokenize(PROMPT.encode())
    shorter = [*tokens[:-cut], tokens[1]]
    rewindable.reset()
    due = text(rewindable.create_completion(shorter, max_tokens=N_TOKENS, **GREEDY))
    rewindable.reset()
    rewindable.create_completion(tokens, max_tokens=produced, **GREEDY)
    assert text(rewindable.create_completion(shorter, max_tokens=N_TOKENS, **GREEDY)) == due
