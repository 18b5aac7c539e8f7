"""Generating under a grammar: what comes follows it, with every sampler, whatever callbacks and biases do."""

from __future__ import annotations

import math
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rig.generation import GREEDY, finish_reason, joined, text
from rig.native_grammar import NativeGrammar

from llama_cpp import LlamaGrammar, MinTokensLogitsProcessor
from llama_cpp.errors import GrammarError

if TYPE_CHECKING:
    from llama_cpp import Llama

PROMPT = "a list of words"
GRAMMARS = {
    "words": 'root ::= word (" " word)*\nword ::= [a-z]{1,9}',
    "pairs": 'root ::= "{" ws (pair ("," ws pair)*)? "}"\npair ::= "\\"" [a-z]+ "\\":" ws ("1" | "true" | root)\nws ::= " "?',
    "choice": 'root ::= "yes" | "yes, of course" | "no"',
    "any": "root ::= [ -~]*",
}
OFF: dict[str, Any] = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}


def shuffled(_: Any, scores: Any) -> Any:
    return scores * -1.0


def only_even(_: Any, scores: Any) -> Any:
    scores[1::2] -= 5.0
    return scores


SAMPLERS: dict[str, dict[str, Any]] = {
    "default": {},
    "greedy": GREEDY,
    "top-k 1": {"top_k": 1},
    "all tokens": OFF,
    "hot": {**OFF, "temperature": 3.0},
    "top-k 2": {"top_k": 2},
    "top-p": {**OFF, "top_p": 0.1},
    "min-p": {**OFF, "min_p": 0.9, "min_keep": 2},
    "typical": {**OFF, "typical_p": 0.2},
    "top-n-sigma": {**OFF, "top_n_sigma": 0.5},
    "xtc": {**OFF, "xtc_probability": 1.0, "xtc_threshold": 0.01},
    "dynamic temperature": {"dynatemp_range": 0.7, "temperature": 1.0},
    "penalties": {"repeat_penalty": 1.5, "frequency_penalty": 1.0, "present_penalty": 1.0, "penalty_last_n": -1},
    "rewards": {"repeat_penalty": 0.6, "frequency_penalty": -1.0},
    "greedy with penalties": {**GREEDY, "repeat_penalty": 1.3},
    "dry": {"dry_multiplier": 5.0, "dry_allowed_length": 1},
    "mirostat": {"mirostat_mode": 1},
    "mirostat 2": {"mirostat_mode": 2},
    "adaptive": {"adaptive_target": 0.3},
    "infill": {"use_infill": True},
    "processor": {"logits_processor": [shuffled, only_even]},
    "log-probabilities": {"logprobs": 3},
    "criterion": {"stopping_criteria": lambda ids, _: len(ids) > 30},
    "no end": {"ignore_eos": True},
}


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_no_sampler_leaves_the_grammar(synthetic: Llama, sampler: dict[str, Any], grammar: str) -> None:
    completion = synthetic.create_completion(PROMPT, max_tokens=16, seed=1, grammar=LlamaGrammar(grammar), **sampler)
    with NativeGrammar(synthetic, grammar) as native:
        ended = finish_reason(completion) == "stop" and "stopping_criteria" not in sampler
        assert (native.accepts if ended else native.begins)(text(completion)), text(completion)


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
@pytest.mark.parametrize("seed", [3, 4])
def test_random_biases_and_processors(synthetic: Llama, grammar: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    biases = {int(token): float(bias) for token, bias in zip(random.permutation(360)[:40], random.normal(0, 20, 40), strict=True)}

    def noise(_: Any, scores: Any) -> Any:
        return scores + random.normal(0, 10, len(scores))

    for extra in ({"logit_bias": biases}, {"logits_processor": noise}, {"logit_bias": biases, "repeat_penalty": 1.4, **OFF}):
        completion = synthetic.create_completion(PROMPT, max_tokens=24, seed=seed, grammar=LlamaGrammar(grammar), **extra)
        with NativeGrammar(synthetic, grammar) as native:
            assert (native.accepts if finish_reason(completion) == "stop" else native.begins)(text(completion))


def test_greedy_is_the_likeliest_of_the_allowed_tokens(text_model: Llama) -> None:
    grammar = GRAMMARS["pairs"]
    prompt = text_model.tokenize(PROMPT.encode())
    tokens = text_model.generate(prompt, temp=0.0, grammar=LlamaGrammar(grammar))
    with NativeGrammar(text_model, grammar) as native, closing(tokens):
        for token, _ in zip(tokens, range(10), strict=False):
            scores = text_model.scores[-1].copy()
            likeliest = next(int(each) for each in np.argsort(-scores, kind="stable") if native.allows(int(each)))
            assert token == likeliest
            if not native.accept(token) or token == text_model.token_eos():
                break


def test_the_distribution_among_allowed_tokens_is_the_models(synthetic: Llama) -> None:
    """Without filters, tokens are drawn as if the vocabulary had only the allowed ones."""
    grammar = LlamaGrammar('root ::= "a" | "b" | "c" | "d"')
    synthetic.eval(synthetic.tokenize(PROMPT.encode()))
    tokens = {synthetic.sample(seed=seed, temp=1.0, top_k=0, top_p=1.0, min_p=0.0, grammar=grammar) for seed in range(60)}
    drawn = [synthetic.sample(seed=seed, temp=1.0, top_k=0, top_p=1.0, min_p=0.0, grammar=grammar) for seed in range(600)]
    weights = {token: math.exp(float(synthetic.scores[-1][token])) for token in tokens}
    for token, weight in weights.items():
        p = weight / sum(weights.values())
        assert abs(drawn.count(token) - 600 * p) <= 5 * math.sqrt(600 * p * (1 - p)) + 1


def test_a_grammar_that_is_complete_ends_the_text(synthetic: Llama) -> None:
    grammar = LlamaGrammar('root ::= "abc"')
    for more in ({}, {"ignore_eos": True}, {"logits_processor": [MinTokensLogitsProcessor(9, synthetic.token_eos())]}):
        completion = synthetic.create_completion(PROMPT, max_tokens=20, grammar=grammar, **more)
        assert (text(completion), finish_reason(completion)) == ("abc", "stop")


def test_where_nothing_can_follow_it_is_said(synthetic: Llama) -> None:
    forbidden = dict.fromkeys(range(synthetic.n_vocab()), -math.inf)
    with pytest.raises(GrammarError, match="nothing can follow"):
        synthetic.create_completion(PROMPT, grammar=LlamaGrammar('root ::= "abc"'), logit_bias=forbidden)
    with pytest.raises(GrammarError, match="nothing can follow"):
        synthetic.create_completion(PROMPT, grammar=LlamaGrammar('root ::= "x" [z-a]'))
    assert text(synthetic.create_completion(PROMPT, grammar=LlamaGrammar('root ::= "abc"'))) == "abc"


def test_a_stream_is_the_same_text(synthetic: Llama) -> None:
    options = {"max_tokens": 24, "seed": 5, "grammar": LlamaGrammar(GRAMMARS["pairs"])}
    whole = synthetic.create_completion(PROMPT, **options)
    assert joined(synthetic.create_completion(PROMPT, stream=True, **options)) == (text(whole), finish_reason(whole))


def test_characters_of_several_tokens(synthetic: Llama) -> None:
    completion = synthetic.create_completion(PROMPT, max_tokens=40, seed=1, grammar=LlamaGrammar('root ::= "é語😀"'))
    assert (text(completion), finish_reason(completion)) == ("é語😀", "stop")


def test_tokens_that_a_grammar_names(synthetic: Llama) -> None:
    """Native code lets a token pass that begins as text and is the named one, and would end the process when it is accepted."""
    for grammar in ('root ::= "h" <[261]>', 'root ::= "t" !<[5]>* "."', "root ::= <|im_start|> [a-z]+", 'root ::= ("h" !<[7]>)+'):
        for seed in range(6):
            lifted = {261: 30.0, 263: 20.0}
            try:
                completion = synthetic.create_completion(
                    PROMPT, max_tokens=12, seed=seed, grammar=LlamaGrammar(grammar), logit_bias=lifted, **OFF
                )
            except GrammarError:
                continue
            assert completion["usage"]["completion_tokens"] > 0


def test_thinking_is_not_the_grammars_business(synthetic: Llama) -> None:
    thinking = {"reasoning_budget": 5, "reasoning_start_in_prompt": True, "ignore_eos": True}
    completion = synthetic.create_completion("<think>", max_tokens=40, seed=2, grammar=LlamaGrammar('root ::= "abc"'), **thinking)
    thought, mark, answer = text(completion).partition("</think>")
    assert (mark, answer, finish_reason(completion)) == ("</think>", "abc", "stop")
    assert thought


def test_the_same_definition_serves_many_texts(synthetic: Llama) -> None:
    grammar = LlamaGrammar(GRAMMARS["choice"])
    answers = [text(synthetic.create_completion(PROMPT, seed=seed, grammar=grammar)) for seed in range(6)]
    assert set(answers) <= {"yes", "yes, of course", "no"}
