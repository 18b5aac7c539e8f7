"""Evaluating a prompt without generating: what it returns, and what the request after it does not evaluate again."""

from __future__ import annotations

import dataclasses
import threading

import numpy as np
import pytest
from rig.generation import GREEDY, PROMPT, text

from llama_cpp import Llama, PrefillResult


def test_the_logits_are_those_of_the_next_token(text_model: Llama) -> None:
    result = text_model.prefill(PROMPT)
    assert isinstance(result, PrefillResult)
    assert (result.logits.shape, result.logits.dtype) == ((text_model.n_vocab(),), np.float32)
    assert int(result.logits.argmax()) == next(text_model.generate(text_model.tokenize(PROMPT.encode(), special=True), temp=0.0))


def test_the_logits_are_the_callers_to_keep_and_not_to_write(synthetic: Llama) -> None:
    result = synthetic.prefill(PROMPT)
    before = result.logits.copy()
    synthetic.create_completion("something else", max_tokens=4, **GREEDY)
    assert np.array_equal(result.logits, before)
    with pytest.raises(ValueError, match="read-only"):
        result.logits[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.n_tokens = 1


def test_a_request_that_begins_with_it_evaluates_its_own_part_only(text_model: Llama) -> None:
    due = text(text_model.create_completion(PROMPT + " and then", max_tokens=6, **GREEDY))
    text_model.reset()
    first = text_model.prefill(PROMPT)
    assert first.n_evaluated == first.n_tokens == len(text_model.tokenize(PROMPT.encode(), special=True))
    longer = text_model.prefill(PROMPT + " and then")
    if not text_model.is_hybrid:
        assert longer.n_evaluated < longer.n_tokens
    assert text(text_model.create_completion(PROMPT + " and then", max_tokens=6, **GREEDY)) == due


def test_without_reset_it_goes_on(synthetic: Llama) -> None:
    whole = synthetic.prefill([1, 5, 6, 7]).logits
    synthetic.reset()
    synthetic.prefill([1, 5])
    rest = synthetic.prefill([6, 7], reset=False)
    assert (rest.n_tokens, rest.n_evaluated) == (4, 2)
    assert np.allclose(rest.logits, whole, atol=1e-4)


def test_bos_and_special_tokens(synthetic: Llama) -> None:
    assert synthetic.prefill("one", add_bos=True).n_tokens == synthetic.prefill("one", add_bos=False).n_tokens + 1
    eos = synthetic.detokenize([synthetic.token_eos()], special=True).decode()
    assert synthetic.prefill(eos, special=True).n_tokens < synthetic.prefill(eos, special=False).n_tokens


@pytest.mark.parametrize(
    ("prompt", "about"), [([], "nothing to evaluate"), ([1] * 600, "exceed context window"), ([1, -5], "out of range")]
)
def test_what_cannot_be_evaluated(synthetic: Llama, prompt: list[int], about: str) -> None:
    held = synthetic.prefill([1, 2]).n_tokens
    with pytest.raises(ValueError, match=about):
        synthetic.prefill(prompt)
    assert synthetic.n_tokens == held


@pytest.mark.once_per_wheel
def test_an_abort_ends_it(smollm2: Llama) -> None:
    timer = threading.Timer(0.05, smollm2.abort)

    def prefill_for_long() -> None:
        for number in range(1000):
            smollm2.prefill([1, *([5 + number] * 500)])

    timer.start()
    with pytest.raises(RuntimeError, match="abort"):
        prefill_for_long()
    timer.join()
    assert smollm2.prefill("one").n_tokens > 0
