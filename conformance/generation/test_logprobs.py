"""Log-probabilities in completions: the model's own, for every token once, streamed or not, with and without the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rig.generation import GREEDY, PROMPT, text

from llama_cpp import Llama

if TYPE_CHECKING:
    from collections.abc import Iterable


def logprobs(completion: Any) -> Any:
    return completion["choices"][0]["logprobs"]


def rejoined(chunks: Iterable[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {"tokens": [], "text_offset": [], "token_logprobs": [], "top_logprobs": []}
    for chunk in chunks:
        for name, values in (logprobs(chunk) or {}).items():
            found[name] += values
    return found


@pytest.mark.every_processor
def test_they_are_those_of_the_model(text_model: Llama) -> None:
    completion = text_model.create_completion(PROMPT, max_tokens=6, logprobs=3, **GREEDY)
    tokens = text_model.tokenize(PROMPT.encode())
    for position in range(6):
        text_model.reset()
        text_model.eval(tokens)
        expected = Llama.logits_to_logprobs(text_model.scores[-1])
        best = int(np.argmax(expected))
        assert logprobs(completion)["token_logprobs"][position] == pytest.approx(float(expected[best]), abs=0.02)
        top = sorted(logprobs(completion)["top_logprobs"][position].values(), reverse=True)
        assert top[0] == pytest.approx(float(expected[best]), abs=0.02)
        tokens.append(best)


@pytest.mark.parametrize("options", [{}, {"echo": True}, {"stop": ["e"]}, {"echo": True, "stop": ["a"]}], ids=str)
@pytest.mark.parametrize("sampling", [GREEDY, {"seed": 4}], ids=["greedy", "sampled"])
def test_a_stream_gives_the_same(text_model: Llama, options: dict[str, Any], sampling: dict[str, Any]) -> None:
    whole = text_model.create_completion(PROMPT, max_tokens=16, logprobs=2, **options, **sampling)
    text_model.reset()
    chunks = list(text_model.create_completion(PROMPT, max_tokens=16, logprobs=2, stream=True, **options, **sampling))
    assert "".join(text(chunk) for chunk in chunks) == text(whole)
    streamed, expected = rejoined(chunks), rejoined([whole])
    assert streamed["tokens"] == expected["tokens"]
    assert streamed["text_offset"] == expected["text_offset"]
    assert streamed["token_logprobs"][1:] == pytest.approx(expected["token_logprobs"][1:], abs=1e-3)


def test_echo_gives_the_prompt_its_own(text_model: Llama) -> None:
    prompt = text_model.tokenize(PROMPT.encode())
    completion = text_model.create_completion(PROMPT, max_tokens=1, logprobs=0, echo=True, **GREEDY)
    skipped = int(prompt[0] == text_model.token_bos())
    found = logprobs(completion)["token_logprobs"]
    assert len(found) == len(prompt) - skipped + completion["usage"]["completion_tokens"]
    assert found[0] is None
    assert logprobs(completion)["text_offset"][0] == 0
    text_model.reset()
    for position in range(1, len(prompt)):
        text_model.eval([prompt[position - 1]])
        expected = float(Llama.logits_to_logprobs(text_model.scores[-1])[prompt[position]])
        if position - skipped > 0:
            assert found[position - skipped] == pytest.approx(expected, abs=0.05)


def test_a_prompt_alone_can_be_scored(synthetic: Llama) -> None:
    completion = synthetic.create_completion(PROMPT, max_tokens=0, logprobs=0, echo=True)
    assert text(completion) == PROMPT
    assert all(value < 0 for value in logprobs(completion)["token_logprobs"][1:])


def test_none_means_none(synthetic: Llama) -> None:
    assert logprobs(synthetic.create_completion(PROMPT, max_tokens=2)) is None
