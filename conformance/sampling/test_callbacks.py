"""Processors and criteria in Python: what they see, what they change, and what they raise."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rig.generation import GREEDY, PROMPT, finish_reason, joined, text

from llama_cpp import LogitsProcessorList, MinTokensLogitsProcessor, StoppingCriteriaList

if TYPE_CHECKING:
    from llama_cpp import Llama


def test_a_processor_sees_ids_and_logits_and_changes_the_choice(text_model: Llama) -> None:
    prompt = text_model.tokenize(PROMPT.encode())
    seen: list[int] = []
    forced = prompt[len(prompt) // 2]

    def force(ids: Any, scores: Any) -> Any:
        assert ids.dtype == np.intc
        assert scores.dtype == np.float32
        assert scores.shape == (text_model.n_vocab(),)
        seen.append(len(ids))
        scores[forced] = scores.max() + 10
        return scores

    with closing(text_model.generate(prompt, temp=0.0, logits_processor=force)) as tokens:
        assert [next(tokens) for _ in range(3)] == [forced] * 3
    assert seen == [len(prompt), len(prompt) + 1, len(prompt) + 2]


def test_a_processor_that_does_nothing_changes_nothing(text_model: Llama) -> None:
    plain = text_model.create_completion(PROMPT, max_tokens=12, seed=3)
    text_model.reset()
    for processor in (lambda _, scores: scores, lambda _, scores: scores.copy(), LogitsProcessorList([lambda _, scores: scores])):
        assert text(text_model.create_completion(PROMPT, max_tokens=12, seed=3, logits_processor=processor)) == text(plain)
        text_model.reset()


@pytest.mark.parametrize("stream", [False, True])
def test_what_a_processor_raises_is_raised_and_the_next_call_works(text_model: Llama, stream: bool) -> None:
    class MineError(Exception):
        pass

    def fail(ids: Any, scores: Any) -> Any:
        if len(ids) > 15:
            raise MineError
        return scores

    expected = text(text_model.create_completion(PROMPT, max_tokens=8, **GREEDY))
    with pytest.raises(MineError):
        list(text_model.create_completion(PROMPT, max_tokens=20, logits_processor=[fail], stream=stream, **GREEDY))
    assert text(text_model.create_completion(PROMPT, max_tokens=8, **GREEDY)) == expected


def test_ids_are_not_for_writing(synthetic: Llama) -> None:
    def write(ids: Any, scores: Any) -> Any:
        ids[0] = 5
        return scores

    with pytest.raises(ValueError, match="read-only"):
        synthetic.create_completion(PROMPT, logits_processor=write)


def test_a_criterion_ends_a_completion(synthetic: Llama) -> None:
    length = len(synthetic.tokenize(PROMPT.encode()))
    whole = synthetic.create_completion(PROMPT, max_tokens=20, stopping_criteria=lambda ids, _: len(ids) >= length + 4, **GREEDY)
    assert whole["usage"]["completion_tokens"] == 4
    assert finish_reason(whole) == "stop"
    criteria = StoppingCriteriaList([lambda *_: False, lambda ids, _: len(ids) >= length + 4])
    stream = synthetic.create_completion(PROMPT, max_tokens=20, stopping_criteria=criteria, stream=True, **GREEDY)
    assert joined(stream) == (text(whole), "stop")


def test_generate_takes_callbacks_too(synthetic: Llama) -> None:
    prompt = synthetic.tokenize(PROMPT.encode())
    tokens = list(synthetic.generate(prompt, temp=0.0, stopping_criteria=lambda ids, _: len(ids) >= len(prompt) + 5))
    assert len(tokens) == 5


def test_no_end_before_so_many_tokens(synthetic: Llama) -> None:
    end = synthetic.token_eos()
    early = {"logit_bias": {end: 100.0}, **GREEDY}
    assert synthetic.create_completion(PROMPT, max_tokens=20, **early)["usage"]["completion_tokens"] == 0
    held = synthetic.create_completion(PROMPT, max_tokens=20, logits_processor=[MinTokensLogitsProcessor(6, end)], **early)
    assert held["usage"]["completion_tokens"] == 6
    assert finish_reason(held) == "stop"
