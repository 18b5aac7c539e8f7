"""What a completion holds: lengths, reasons, usage, seeds, echo, and prompts in both forms."""

from __future__ import annotations

import copy
from typing import ClassVar

import pytest
from rig import material
from rig.generation import GREEDY, PROMPT, finish_reason, joined, text

from llama_cpp import Llama


def test_smollm2_knows_the_capital_of_france(smollm2: Llama) -> None:
    assert "Paris" in text(smollm2.create_completion("The capital of France is", max_tokens=8, **GREEDY))


@pytest.mark.parametrize(
    "sampling", [GREEDY, {"temperature": 1.2, "seed": 42, "top_k": 0, "top_p": 1.0, "min_p": 0.0}], ids=["greedy", "sampled"]
)
@pytest.mark.parametrize("echo", [False, True], ids=["plain", "echo"])
@pytest.mark.every_processor
def test_stream_equals_whole(text_model: Llama, sampling: dict[str, float], echo: bool) -> None:
    whole = text_model.create_completion(PROMPT, max_tokens=24, echo=echo, **sampling)
    text_model.reset()
    assert joined(text_model.create_completion(PROMPT, max_tokens=24, echo=echo, stream=True, **sampling)) == (
        text(whole),
        finish_reason(whole),
    )


def test_shape_of_a_completion(synthetic: Llama) -> None:
    completion = synthetic.create_completion(PROMPT, max_tokens=4, **GREEDY)
    assert completion["object"] == "text_completion"
    assert completion["id"].startswith("cmpl-")
    assert isinstance(completion["created"], int)
    assert completion["model"] == synthetic.model_path
    assert [choice["index"] for choice in completion["choices"]] == [0]
    assert completion["choices"][0]["logprobs"] is None


def test_shape_of_a_stream(synthetic: Llama) -> None:
    chunks = list(synthetic.create_completion(PROMPT, max_tokens=4, stream=True, **GREEDY))
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert all("usage" not in chunk for chunk in chunks)
    assert chunks[-1]["choices"][0]["text"] == ""


def test_call_is_a_completion(synthetic: Llama) -> None:
    assert text(synthetic(PROMPT, max_tokens=8, **GREEDY)) == text(synthetic.create_completion(PROMPT, max_tokens=8, **GREEDY))


@pytest.mark.every_processor
def test_usage_counts(text_model: Llama) -> None:
    prompt_tokens = len(text_model.tokenize(PROMPT.encode(), add_bos=True, special=True))
    usage = text_model.create_completion(PROMPT, max_tokens=7, **GREEDY)["usage"]
    assert usage == {"prompt_tokens": prompt_tokens, "completion_tokens": 7, "total_tokens": prompt_tokens + 7}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_no_tokens(synthetic: Llama, stream: bool) -> None:
    answer = synthetic.create_completion(PROMPT, max_tokens=0, stream=stream, **GREEDY)
    produced, reason = joined(answer) if stream else (text(answer), finish_reason(answer))
    assert (produced, reason) == ("", "length")


def test_no_tokens_with_echo_gives_the_prompt(synthetic: Llama) -> None:
    assert text(synthetic.create_completion(PROMPT, max_tokens=0, echo=True, **GREEDY)) == PROMPT


@pytest.mark.parametrize("count", [1, 2, 9])
@pytest.mark.every_processor
def test_max_tokens_is_kept(text_model: Llama, count: int) -> None:
    completion = text_model.create_completion(PROMPT, max_tokens=count, **GREEDY)
    assert completion["usage"]["completion_tokens"] == count
    assert finish_reason(completion) == "length"


@pytest.mark.parametrize("limit", [None, -1])
def test_without_limit_it_goes_on_to_the_end_of_the_context(limit: int | None) -> None:
    with Llama(str(material.model(material.SYNTH_LLAMA)), n_ctx=64, verbose=False) as llama:
        completion = llama.create_completion("Hello", max_tokens=limit, **GREEDY)
        assert finish_reason(completion) == "length"
        # The last token that was sampled need not be evaluated: it may stand one past the context.
        assert llama.n_ctx() <= completion["usage"]["total_tokens"] <= llama.n_ctx() + 1


def test_end_of_text_is_a_stop(smollm2: Llama) -> None:
    prompt = "<|im_start|>user\nSay hi.<|im_end|>\n<|im_start|>assistant\n"
    completion = smollm2.create_completion(prompt, max_tokens=120, **GREEDY)
    assert finish_reason(completion) == "stop"
    assert "<|im_end|>" not in text(completion)


def test_echo_puts_the_prompt_before_the_text(text_model: Llama) -> None:
    plain = text(text_model.create_completion(PROMPT, max_tokens=8, **GREEDY))
    text_model.reset()
    assert text(text_model.create_completion(PROMPT, max_tokens=8, echo=True, **GREEDY)) == PROMPT + plain


@pytest.mark.every_processor
def test_tokens_as_prompt_equal_text_as_prompt(text_model: Llama) -> None:
    tokens = text_model.tokenize(PROMPT.encode(), add_bos=True, special=True)
    before = list(tokens)
    by_text = text_model.create_completion(PROMPT, max_tokens=12, **GREEDY)
    text_model.reset()
    by_tokens = text_model.create_completion(tokens, max_tokens=12, **GREEDY)
    assert (text(by_tokens), by_tokens["usage"]) == (text(by_text), by_text["usage"])
    assert tokens == before


def test_arguments_are_not_changed(synthetic: Llama) -> None:
    arguments = {"stop": ["\n\n", "###"], "logit_bias": {}, "dry_seq_breakers": ["\n"]}
    given = copy.deepcopy(arguments)
    for _ in range(2):
        synthetic.create_completion(PROMPT, max_tokens=2, **given)
    assert given == arguments


class TestSeeds:
    """Sampling with a high temperature, so that another seed gives another text."""

    SAMPLING: ClassVar = {"temperature": 1.5, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "max_tokens": 16}

    def sample(self, llama: Llama, seed: int | None) -> str:
        llama.reset()
        return text(llama.create_completion(PROMPT, seed=seed, **self.SAMPLING))

    @pytest.mark.parametrize("seed", [0, 1, 1234, 2**32 - 2])
    def test_same_seed_same_text(self, text_model: Llama, seed: int) -> None:
        assert self.sample(text_model, seed) == self.sample(text_model, seed)

    def test_other_seeds_other_texts(self, text_model: Llama) -> None:
        assert len({self.sample(text_model, seed) for seed in (0, 1, 2, 3)}) == 4

    def test_none_differs_from_call_to_call(self, text_model: Llama) -> None:
        assert len({self.sample(text_model, None) for _ in range(4)}) > 1

    def test_seed_repeats_after_other_calls(self, synthetic: Llama) -> None:
        first = self.sample(synthetic, 7)
        self.sample(synthetic, None)
        synthetic.create_completion("Something else", max_tokens=3)
        assert self.sample(synthetic, 7) == first
