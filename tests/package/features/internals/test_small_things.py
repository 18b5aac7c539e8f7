from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from llama_cpp._engine.errors import ClosedError, InvalidArgumentError
from llama_cpp._features import log_settings
from llama_cpp._features.internals.candidates import LlamaTokenDataArray, normalize_embedding
from llama_cpp._features.internals.grammar_sampler import GrammarSampler
from llama_cpp._features.internals.quiet import suppress_stdout_stderr
from llama_cpp._features.internals.reasoning import ReasoningBudgetSampler, ReasoningBudgetState
from llama_cpp._features.internals.singleton import Singleton
from tests.package.engine.fake_samplers import FakeSamplers
from tests.package.engine.fakes import N_VOCAB, FakeLlama

if TYPE_CHECKING:
    from llama_cpp._features.internals.model import LlamaModel


def test_candidates() -> None:
    candidates = LlamaTokenDataArray(n_vocab=3)
    candidates.copy_logits([1, 2, 3])
    candidates.candidates.size = 2
    assert candidates.candidates_data.tolist() == [(0, 1.0, 0.0), (1, 2.0, 0.0)]
    candidates.copy_logits(np.zeros(3))
    assert len(candidates.candidates_data) == 3
    with pytest.raises(InvalidArgumentError, match="2 logits were given for 3"):
        candidates.copy_logits([1, 2])


def test_the_norm_of_an_embedding() -> None:
    assert normalize_embedding([3.0, 4.0]) == pytest.approx([0.6, 0.8])
    assert normalize_embedding([0.0, 0.0]) == [0.0, 0.0]


GBNF = 'root ::= "ab"'


def fake_grammars(native: FakeLlama) -> None:
    """Native grammars that allow the literal in their text."""
    fakes = FakeSamplers(native)
    native.replace("llama_sampler_init_grammar", lambda _, text, root: fakes.new({"text": text.split(b'"')[1], "root": root, "at": 0}))


class TestGrammarSampler:
    def test_it_advances(self, native: FakeLlama, model: LlamaModel) -> None:
        fake_grammars(native)
        with GrammarSampler(model, GBNF) as grammar:
            assert [grammar.allows(token) for token in b"ab"] == [True, False]
            grammar.accept(ord("a"))
            with grammar.clone() as copy:
                copy.accept(ord("b"))
            candidates = LlamaTokenDataArray(N_VOCAB)
            grammar.apply(candidates)
            assert np.flatnonzero(np.isfinite(candidates.candidates_data["logit"])).tolist() == [ord("b")]
            grammar.reset()
            assert grammar.allows(ord("a"))

    def test_everything_after_close_says_so(self, native: FakeLlama, model: LlamaModel) -> None:
        fake_grammars(native)
        grammar = GrammarSampler(model, GBNF)
        grammar.close()
        grammar.close()
        for call in (lambda: grammar.accept(1), grammar.reset, grammar.clone, lambda: grammar.sampler, grammar.__enter__):
            with pytest.raises(ClosedError, match="closed"):
                call()

    def test_one_that_closed_with_its_model(self, native: FakeLlama, model: LlamaModel) -> None:
        fake_grammars(native)
        grammar = GrammarSampler(model, GBNF)
        model.engine.close()
        with pytest.raises(RuntimeError, match="closed"):
            grammar.reset()

    def test_a_lazy_one_needs_triggers(self, native: FakeLlama, model: LlamaModel) -> None:
        fake_grammars(native)
        with pytest.raises(ValueError, match="triggers"):
            GrammarSampler(model, GBNF, lazy=True)
        with GrammarSampler(model, GBNF, lazy=True, triggers=["a"]) as grammar:
            assert grammar.allows(ord("z"))


class TestReasoning:
    def test_its_states(self, model: LlamaModel) -> None:
        sampler = ReasoningBudgetSampler(model, 2, "<", ">")
        seen = [sampler.state]
        for byte in b"<ab":
            sampler.accept(byte)
            seen.append(sampler.state)
        assert seen == [ReasoningBudgetState.IDLE, *[ReasoningBudgetState.COUNTING] * 2, ReasoningBudgetState.FORCING]
        candidates = LlamaTokenDataArray(N_VOCAB)
        copy = sampler.clone()
        sampler.apply(candidates)
        assert np.flatnonzero(np.isfinite(candidates.candidates_data["logit"])).tolist() == [ord(">")]
        sampler.accept(ord(">"))
        assert (sampler.state, copy.state) == (ReasoningBudgetState.DONE, ReasoningBudgetState.FORCING)

    def test_it_can_be_ended(self, model: LlamaModel) -> None:
        sampler = ReasoningBudgetSampler(model, 100, "<", ">", reasoning_start_in_prompt=True)
        assert sampler.force()
        assert sampler.state is ReasoningBudgetState.FORCING
        sampler.reset()
        assert sampler.state is ReasoningBudgetState.COUNTING

    def test_without_forcing_nothing_is_changed(self, model: LlamaModel) -> None:
        candidates = LlamaTokenDataArray(N_VOCAB)
        ReasoningBudgetSampler(model).apply(candidates)
        assert np.isfinite(candidates.candidates_data["logit"]).all()


def test_silence_for_a_block() -> None:
    before = log_settings.get_verbosity()
    with suppress_stdout_stderr(disable=False):
        assert log_settings.get_verbosity() == 0
    assert log_settings.get_verbosity() == before
    with suppress_stdout_stderr():
        assert log_settings.get_verbosity() == before


def test_one_instance() -> None:
    class One(Singleton):
        def __init__(self, value: int = 0) -> None:
            self.value = value

    class Other(Singleton): ...

    assert One(1) is One(2)
    assert One().value == 1
    assert Other() is not One()
