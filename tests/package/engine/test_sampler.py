from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from llama_cpp._engine.candidates import Candidates
from llama_cpp._engine.errors import (
    ClosedError,
    GrammarError,
    InvalidArgumentError,
    OutputIndexError,
    SamplerChainError,
    SamplerError,
    TokenRangeError,
)
from llama_cpp._engine.sampler import SamplerChain
from tests.package.engine.fake_samplers import FakeSamplers
from tests.package.engine.fakes import EOS, N_VOCAB, FakeLlama

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llama_cpp._engine.context import Context


@pytest.fixture
def samplers(native: FakeLlama) -> FakeSamplers:
    return FakeSamplers(native)


@pytest.fixture
def context(native: FakeLlama, samplers: FakeSamplers) -> Iterator[Context]:  # noqa: ARG001 - it has to come first
    with native.model() as model:
        yield native.context(model)


@pytest.fixture
def chain(samplers: FakeSamplers) -> Iterator[SamplerChain]:  # noqa: ARG001 - it has to come first
    with SamplerChain() as made:
        yield made


def members(samplers: FakeSamplers, chain: SamplerChain) -> Any:
    return [(samplers.objects[each]["name"], samplers.objects[each]["args"]) for each in samplers.objects[chain.pointer]["members"]]


def test_samplers_are_added_in_order_with_their_arguments(samplers: FakeSamplers, chain: SamplerChain, context: Context) -> None:
    vocab = context.vocab
    chain.add_penalties(9, 64, 1.1, 0.2, 0.3).add_top_k(40).add_top_p(0.9).add_min_p(0.05, 2).add_typical(0.8)
    chain.add_xtc(0.1, 0.2, 1, -1).add_top_n_sigma(1.5).add_temp(0.7).add_temp_ext(0.7, 0.1, 1.0).add_logit_bias(vocab, {5: -math.inf})
    chain.add_infill(vocab).add_dist(2**32 + 3)
    assert members(samplers, chain) == [
        ("penalties", (9, 64, 1.1, 0.2, 0.3)),
        ("top_k", (40,)),
        ("top_p", (0.9, 1)),
        ("min_p", (0.05, 2)),
        ("typical", (0.8, 1)),
        ("xtc", (0.1, 0.2, 1, 0xFFFFFFFF)),
        ("top_n_sigma", (1.5,)),
        ("temp", (0.7,)),
        ("temp_ext", (0.7, 0.1, 1.0)),
        ("logit_bias", (N_VOCAB, {5: -math.inf})),
        ("infill", (vocab.pointer,)),
        ("dist", (3,)),
    ]
    assert chain.names[-1] == "dist"
    assert chain.seed == 42


def test_sequence_breakers_reach_c(samplers: FakeSamplers, chain: SamplerChain, context: Context) -> None:
    chain.add_dry(context.vocab, multiplier=0.8, base=1.75, allowed_length=2, last_n=64, sequence_breakers=["\n", b":"])
    (name, args), *_ = members(samplers, chain)
    assert (name, args[1:5], list(args[5]), args[6]) == ("dry", (0.8, 1.75, 2, 64), [b"\n", b":"], 2)


@pytest.mark.parametrize(
    "end",
    [
        lambda chain: chain.add_greedy(),
        lambda chain: chain.add_dist(1),
        lambda chain: chain.add_mirostat(9, 1, 5.0, 0.1, 100),
        lambda chain: chain.add_mirostat_v2(1, 5.0, 0.1),
        lambda chain: chain.add_adaptive_p(0.5, 0.9, 1),
    ],
)
def test_a_selecting_sampler_ends_the_chain(native: FakeLlama, chain: SamplerChain, end: Any) -> None:
    assert not chain.selects
    end(chain.add_top_k(1))
    assert chain.selects
    for late in (lambda: chain.add_temp(1.0), chain.add_greedy):
        with pytest.raises(SamplerChainError, match="nothing can follow"):
            late()
    assert len(chain.names) == 2
    assert [what for what, _ in native.calls] == ["free sampler"] * 2  # what was refused is not leaked


def test_a_chain_without_a_selecting_sampler_never_reaches_c(native: FakeLlama, chain: SamplerChain, context: Context) -> None:
    context.decode([1])
    with pytest.raises(SamplerChainError, match="add_dist or add_greedy"):
        chain.add_top_k(1).sample(context)
    assert ("sample", -1) not in native.calls


def test_a_row_that_does_not_exist_never_reaches_c(native: FakeLlama, chain: SamplerChain, context: Context) -> None:
    chain.add_temp(0.5).add_greedy()  # greedy alone needs no native sampler
    with pytest.raises(OutputIndexError):
        chain.sample(context)
    context.decode([1, 2])
    with pytest.raises(OutputIndexError):
        chain.sample(context, 0)
    assert chain.sample(context) == 7
    assert chain.sample(context, 1) == 7
    assert [call for call in native.calls if call[0] == "sample"] == [("sample", -1), ("sample", 1)]


@pytest.mark.parametrize("values", [(0.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (math.nan, 0.0, 0.0), (1.0, math.inf, 0.0), (1.0, 0.0, math.nan)])
def test_penalties_that_native_code_does_not_check(chain: SamplerChain, values: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        chain.add_penalties(9, 64, *values)


def test_other_arguments_that_native_code_does_not_check(chain: SamplerChain, context: Context) -> None:
    for call in (lambda: chain.add_top_p(0.9, -1), lambda: chain.add_logit_bias(context.vocab, {-1: 1.0})):
        with pytest.raises(InvalidArgumentError):
            call()
    with pytest.raises(InvalidArgumentError, match="no candidates"):
        chain.apply(Candidates(1))


def test_a_sampler_that_cannot_be_made(native: FakeLlama, chain: SamplerChain) -> None:
    native.replace("llama_sampler_init_top_k", lambda _k: None)
    with pytest.raises(SamplerError):
        chain.add_top_k(1)


def test_accept_checks_the_token(samplers: FakeSamplers, chain: SamplerChain, context: Context) -> None:
    chain.add_infill(context.vocab).add_greedy()
    chain.accept(5)
    for token in (-1, N_VOCAB):
        with pytest.raises(TokenRangeError):
            chain.accept(token)
    assert samplers.objects[chain.pointer]["accepted"] == [5]
    chain.reset()
    assert samplers.objects[chain.pointer]["accepted"] == []


def test_a_chain_belongs_to_one_model(native: FakeLlama, chain: SamplerChain, context: Context) -> None:
    chain.add_infill(context.vocab)
    with native.model() as other, pytest.raises(SamplerChainError, match="same model"):
        chain.add_infill(other.vocab)


@pytest.mark.usefixtures("samplers")
def test_a_chain_that_uses_a_vocabulary_closes_before_its_model(native: FakeLlama) -> None:
    model, chain, free = native.model(), SamplerChain(), SamplerChain()
    chain.add_grammar(model.vocab, "ab").add_greedy()
    copy = chain.clone()
    model.close()
    assert (chain.closed, copy.closed, free.closed) == (True, True, False)
    assert [what for what, _ in native.calls] == ["free sampler"] * 4 + ["free model"]
    with pytest.raises(ClosedError):
        chain.accept(1)
    free.close()


def test_a_dropped_chain_frees_its_grammar_at_once_with_one_warning(native: FakeLlama, context: Context) -> None:
    chain = SamplerChain().add_grammar(context.vocab, "ab").add_greedy()
    with pytest.warns(ResourceWarning) as caught:
        del chain
    assert len(caught) == 1
    assert [what for what, _ in native.calls] == ["free sampler"] * 2


def test_a_grammar_constrains_wherever_it_was_added(samplers: FakeSamplers, chain: SamplerChain, context: Context) -> None:
    chain.add_top_k(40).add_penalties(context.n_vocab, 8, 1.0, 0.0, 0.5).add_greedy().add_grammar(context.vocab, "no")
    found = []
    for pos in range(3):
        context.decode_one(65, pos)  # the model wants an A
        found.append(chain.sample(context))
    assert found == [*b"no", EOS]
    assert samplers.objects[chain.pointer]["accepted"] == found


def test_an_allowed_token_needs_no_mask(samplers: FakeSamplers, native: FakeLlama, chain: SamplerChain, context: Context) -> None:
    chain.add_grammar(context.vocab, "A").add_penalties(context.n_vocab, 8, 1.0, 0.0, 0.5).add_greedy()
    applied = []
    native.replace(
        "llama_sampler_apply", lambda pointer, entries: (applied.append(pointer), samplers.llama_sampler_apply(pointer, entries))
    )
    context.decode_one(65, 0)
    assert chain.sample(context) == 65
    assert applied.count(chain.pointer) == 1


def test_when_the_samplers_leave_nothing_the_grammar_says_so(
    samplers: FakeSamplers, native: FakeLlama, chain: SamplerChain, context: Context
) -> None:
    chain.add_grammar(context.vocab, "n").add_penalties(context.n_vocab, 8, 1.0, 0.0, 0.5).add_greedy()

    def stubborn(pointer: Any, reference: Any) -> None:
        samplers.llama_sampler_apply(pointer, reference)
        if pointer == chain.pointer:
            reference._obj.selected = 65

    native.replace("llama_sampler_apply", stubborn)
    context.decode_one(65, 0)
    with pytest.raises(GrammarError, match="allows none"):
        chain.sample(context)
    assert samplers.objects[chain.pointer]["accepted"] == []


def test_accept_asks_the_grammar_first(samplers: FakeSamplers, chain: SamplerChain, context: Context) -> None:
    chain.add_grammar(context.vocab, "ab").add_greedy()
    with pytest.raises(GrammarError, match="token 98"):
        chain.accept(98)
    assert samplers.objects[chain.pointer]["accepted"] == []
    chain.accept(97)
    with chain.clone() as copy:
        copy.accept(98)
        chain.accept(98)
        chain.reset()
        with pytest.raises(GrammarError):
            copy.accept(97)
    chain.accept(97)


def test_candidates_of_the_callers_own(chain: SamplerChain) -> None:
    chain.add_greedy()
    candidates = Candidates(3)
    candidates.fill(np.array([0.1, 0.9, 0.2], np.float32))
    chain.apply(candidates)
    assert candidates.selected_token == 1
