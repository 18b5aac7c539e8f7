"""Chains with members written in Python, and choosing without accepting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from llama_cpp._engine.custom_sampler import CustomSampler, Member
from llama_cpp._engine.errors import GrammarError, SamplerChainError
from llama_cpp._engine.sampler import SamplerChain
from tests.package.engine.fake_samplers import FakeSamplers
from tests.package.engine.fakes import N_VOCAB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llama_cpp._engine.context import Context
    from tests.package.engine.fakes import FakeLlama


@pytest.fixture
def fakes(native: FakeLlama, monkeypatch: pytest.MonkeyPatch) -> FakeSamplers:
    made = FakeSamplers(native)
    monkeypatch.setattr(Member, "create", lambda _: made.new({"name": "custom", "selects": False}))
    return made


@pytest.fixture
def context(native: FakeLlama, fakes: FakeSamplers) -> Iterator[Context]:  # noqa: ARG001 - they have to come first
    with native.model() as model:
        made = native.context(model)
        made.decode([65])
        yield made


@pytest.fixture
def chain(fakes: FakeSamplers) -> Iterator[SamplerChain]:  # noqa: ARG001
    with SamplerChain() as made:
        yield made


def row(*best: int) -> Any:
    logits = np.zeros(N_VOCAB, np.float32)
    logits[list(best)] = np.arange(len(best), 0, -1)
    return logits


def test_choosing_accepts_nothing(chain: SamplerChain, fakes: FakeSamplers) -> None:
    chain.add_dist(1)
    assert [chain.choose(row(65)), chain.choose(row(66))] == [65, 66]
    assert fakes.objects[chain.pointer]["accepted"] == []
    chain.accept(65)
    assert fakes.objects[chain.pointer]["accepted"] == [65]


def test_choosing_what_a_grammar_allows(chain: SamplerChain, context: Context) -> None:
    chain.add_dist(1).add_grammar(context.vocab, "AB")
    assert [chain.choose(row(66, 65)), chain.choose(row(66, 65))] == [65, 65]
    chain.accept(65)
    assert chain.choose(row(65, 66)) == 66


def test_accepting_past_a_grammar(chain: SamplerChain, context: Context, fakes: FakeSamplers) -> None:
    chain.add_dist(1).add_grammar(context.vocab, "AB")
    chain.accept(90, filters=False)
    assert fakes.objects[chain.pointer]["accepted"] == [90]
    with pytest.raises(GrammarError):
        chain.accept(90)


def test_nothing_selects(chain: SamplerChain) -> None:
    chain.add_top_k(5)
    with pytest.raises(SamplerChainError, match="selected a token"):
        chain.choose(row(65))


def test_a_member_of_python_makes_the_chain_run_here(native: FakeLlama, chain: SamplerChain, context: Context) -> None:
    chain.add_custom(CustomSampler(lambda _: None)).add_dist(1)
    assert chain.sample(context) == chain.bind(context)() == 65
    assert ("sample", -1) not in native.calls
    assert not chain.native


@pytest.mark.parametrize("call", ["sample", "accept", "reset", "clone"])
def test_what_a_member_raised_is_raised_by_the_chain(
    chain: SamplerChain, context: Context, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    monkeypatch.setattr(SamplerChain, "_natives", lambda _: [])  # a fake chain has no native members to find
    chain.add_custom(CustomSampler(lambda _: None)).add_dist(1)
    chain._members[0].error = KeyError("its own")
    calls: dict[str, Any] = {
        "sample": lambda: chain.sample(context),
        "accept": lambda: chain.accept(65),
        "reset": chain.reset,
        "clone": chain.clone,
    }
    with pytest.raises(KeyError, match="its own"):
        calls[call]()
    assert chain._members[0].error is None


def test_a_selecting_member_ends_the_chain(chain: SamplerChain) -> None:
    chain.add_custom(CustomSampler(lambda _: None, selects=True))
    assert chain.selects
    with pytest.raises(SamplerChainError, match="nothing can follow"):
        chain.add_greedy()
