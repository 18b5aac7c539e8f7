"""Grammars that sleep until a trigger: what wakes them, where they begin, and characters cut by tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from rig.generation import finish_reason, joined, text
from rig.native_grammar import byte_tokens

from llama_cpp import LlamaGrammar
from llama_cpp.errors import GrammarError

if TYPE_CHECKING:
    from llama_cpp import Llama

CALL = 'root ::= "<call>" [0-9]{3} "</call>"'


class Writer:
    """Makes a model write a text as far as nothing else decides, and then what it likes."""

    def __init__(self, model: Llama, prompt: str, tokens: list[int]) -> None:
        self._begin = len(model.tokenize(prompt.encode()))
        self._tokens = tokens

    def __call__(self, ids: Any, scores: Any) -> Any:
        at = len(ids) - self._begin
        if at < len(self._tokens):
            scores[self._tokens[at]] = scores.max() + 30
        return scores


def write(model: Llama, tokens: list[int], grammar: LlamaGrammar, **options: Any) -> Any:
    writer = Writer(model, "a", tokens)
    return model.create_completion(
        "a", max_tokens=len(tokens) + 30, seed=1, grammar=grammar, grammar_lazy=True, logits_processor=writer, ignore_eos=True, **options
    )


def spelled(model: Llama, written: str) -> list[int]:
    tokens = byte_tokens(model)
    return [tokens[byte] for byte in written.encode()]


@pytest.mark.parametrize(
    ("pattern", "written", "expected"),
    [
        ("<call>", "so <call>", "so <call>"),
        ("(<call>)[0-9]", "so <call>7", "so <call>7"),
        (r"so (<call>)", "so <call>", "so <call>"),
        ("^[^x]*(<call>)$", "so <call>", "so <call>"),
        ("語(<call>)", "é語<call>", "é語<call>"),
        ("[é語].*(<)", "語 <", "語 <"),
        (r"(?i)THINK>\s*(<call>)", "</think>\n<call>", "</think>\n<call>"),
    ],
)
def test_a_pattern_wakes_the_grammar(synthetic: Llama, pattern: str, written: str, expected: str) -> None:
    grammar = LlamaGrammar.from_string(CALL, triggers=[pattern])
    completion = write(synthetic, spelled(synthetic, written), grammar)
    answer = text(completion)
    assert answer.startswith(expected)
    begun = answer[answer.index("<") :] if "</think>" not in answer else answer[answer.index("<call>") :]
    assert finish_reason(completion) == "stop"
    assert begun.startswith("<call>")
    assert begun.endswith("</call>")
    assert begun[6:9].isdigit()
    streamed = write(synthetic, spelled(synthetic, written), grammar, stream=True)
    assert joined(streamed) == (answer, "stop")


def test_without_the_trigger_everything_is_allowed(synthetic: Llama) -> None:
    grammar = LlamaGrammar.from_string(CALL, triggers=["<call>", 3])
    completion = write(synthetic, spelled(synthetic, "no <call> here".replace("<call>", "<Call>")), grammar)
    assert text(completion).startswith("no <Call> here")


def test_a_token_wakes_the_grammar(synthetic: Llama) -> None:
    start = synthetic.tokenize(b"<|im_start|>", add_bos=False, special=True)
    grammar = LlamaGrammar.from_string('root ::= <|im_start|> "abc"', triggers=start)
    completion = write(synthetic, [*spelled(synthetic, "x"), *start], grammar)
    assert (text(completion), finish_reason(completion)) == ("xabc", "stop")


def test_a_match_may_begin_inside_a_token(synthetic: Llama) -> None:
    token = synthetic.tokenize(b"he", add_bos=False)[-1]
    assert synthetic.detokenize([token]).strip() == b"he"
    grammar = LlamaGrammar.from_string('root ::= "ey" [0-9]', triggers=["ey"])
    completion = write(synthetic, [token, *spelled(synthetic, "y")], grammar)
    assert text(completion)[:3] == "hey"
    assert text(completion)[3:].isdigit()


def test_characters_that_tokens_cut(synthetic: Llama) -> None:
    grammar = LlamaGrammar.from_string('root ::= "語" ("é" | "à")', triggers=["語"])
    completion = write(synthetic, spelled(synthetic, "a語"), grammar)
    assert text(completion) in ("a語é", "a語à")


def test_a_trigger_that_the_grammar_refuses_is_not_written(synthetic: Llama) -> None:
    grammar = LlamaGrammar.from_string('root ::= "other"', triggers=["<call>"])
    answer = text(write(synthetic, spelled(synthetic, "so <call>"), grammar))
    assert "<call>" not in answer


def test_what_makes_no_lazy_grammar(synthetic: Llama) -> None:
    with pytest.raises(ValueError, match="triggers"):
        synthetic.create_completion("a", grammar=LlamaGrammar.from_string(CALL), grammar_lazy=True)
    with pytest.raises(ValueError, match="regular expression"):
        LlamaGrammar.from_string(CALL, triggers=["(["])
    with pytest.raises((ValueError, GrammarError), match="range"):
        synthetic.create_completion("a", grammar=LlamaGrammar.from_string(CALL, triggers=[10**6]), grammar_lazy=True)


def test_thinking_wakes_no_grammar(synthetic: Llama) -> None:
    grammar = LlamaGrammar.from_string('root ::= "</think>" [0-9]{2}', triggers=["</think>"])
    thinking = {"reasoning_budget": 12, "reasoning_start_in_prompt": True}
    completion = write(synthetic, spelled(synthetic, "abc"), grammar, **thinking)
    thought, mark, answer = text(completion).partition("</think>")
    assert (mark, len(answer), answer.isdigit()) == ("</think>", 2, True)
    assert thought.startswith("abc")
