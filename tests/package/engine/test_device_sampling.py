from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import pytest

from llama_cpp._engine.device_sampling import NO_TOKEN, DeviceSampling
from llama_cpp._engine.errors import OutputIndexError, SamplerChainError, SequenceIdError
from llama_cpp._engine.sampler import SamplerChain
from llama_cpp._native.bindings import llama
from tests.package.engine.fake_samplers import FakeSamplers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llama_cpp._engine.context import Context
    from tests.package.engine.fakes import FakeLlama


class Device:
    """What the fake device chose, and what was attached: (sequence, chain or None)."""

    def __init__(self, native: FakeLlama) -> None:
        self.token = 5
        self.logits: list[float] = [1.0, 3.0]
        self.ids = [7, 9]
        self.attached: list[tuple[int, Any]] = []
        self.takes = True
        native.replace("llama_set_sampler", self.set)
        native.replace("llama_get_sampled_token_ith", lambda *_: self.token)
        for name, kind, values in (
            ("logits", ctypes.c_float, "logits"),
            ("probs", ctypes.c_float, "logits"),
            ("candidates", ctypes.c_int32, "ids"),
        ):
            native.replace(f"llama_get_sampled_{name}_ith", lambda *_, kind=kind, values=values: self.row(kind, values))
            native.replace(f"llama_get_sampled_{name}_count_ith", lambda *_, values=values: len(getattr(self, values)))

    def set(self, _context: Any, seq_id: int, sampler: Any) -> bool:
        self.attached.append((seq_id, sampler or None))
        return self.takes

    def row(self, kind: Any, values: str) -> Any:
        self.kept = (kind * max(len(getattr(self, values)), 1))(*getattr(self, values))
        return ctypes.cast(self.kept, ctypes.POINTER(kind))


@pytest.fixture
def device(native: FakeLlama) -> Device:
    FakeSamplers(native)
    return Device(native)


@pytest.fixture
def context(native: FakeLlama, device: Device) -> Iterator[Context]:  # noqa: ARG001 - it has to come first
    with native.model() as model:
        made = native.context(model, n_seq_max=2)
        made.decode([1, 2])
        yield made


def test_a_chain_is_attached_once(context: Context, device: Device) -> None:
    sampling = DeviceSampling(context)
    with SamplerChain() as chain:
        chain.add_greedy()
        assert sampling.attach(0, chain)
        for seq_id in (0, 1):
            with pytest.raises(SamplerChainError, match="once"):
                sampling.attach(seq_id, chain)
        with pytest.raises(SamplerChainError, match="nothing can be added"):
            chain.add_top_k(5)
        assert sampling.attach(0, None)
        with pytest.raises(SamplerChainError, match="once"):
            sampling.attach(0, chain)
        assert device.attached == [(0, chain.pointer), (0, None)]


def test_closing_a_chain_detaches_it(context: Context, device: Device) -> None:
    with SamplerChain() as chain:
        DeviceSampling(context).attach(1, chain.add_greedy())
    assert device.attached[-1] == (1, None)
    assert context.samplers == {}


def test_a_chain_that_closes_after_its_context(native: FakeLlama, device: Device) -> None:
    with SamplerChain() as chain:
        with native.model() as model:
            DeviceSampling(native.context(model)).attach(0, chain.add_greedy())
        assert len(device.attached) == 1
    assert len(device.attached) == 1


def test_what_the_device_takes_nothing_of(context: Context, device: Device) -> None:
    device.takes = False
    with SamplerChain() as chain:
        assert not DeviceSampling(context).attach(0, chain.add_greedy())
        assert context.samplers == {}
        assert chain.sample(context) >= 0


def test_the_token_of_the_device_is_accepted(context: Context, device: Device) -> None:
    with SamplerChain() as chain:
        DeviceSampling(context).attach(0, chain.add_greedy())
        assert chain.sample(context) == device.token == 5


def test_the_rest_of_a_chain_goes_on_with_the_candidates(context: Context, device: Device) -> None:
    device.token = NO_TOKEN
    with SamplerChain() as chain:
        DeviceSampling(context).attach(0, chain.add_top_k(2).add_greedy())
        assert chain.sample(context) == 9
        assert chain.bind(context)() == 9
        device.logits = []
        with pytest.raises(SamplerChainError, match="before the chain was attached"):
            chain.sample(context)


def test_only_its_own_chain_samples(context: Context) -> None:
    with SamplerChain() as chain, SamplerChain() as other:
        DeviceSampling(context).attach(0, chain.add_greedy())
        with pytest.raises(SamplerChainError, match="detach"):
            other.add_greedy().sample(context)
        DeviceSampling(context).attach(0, None)
        with pytest.raises(SamplerChainError, match="detach"):
            chain.sample(context)


def test_reading(context: Context, device: Device) -> None:
    sampling = DeviceSampling(context)
    assert (sampling.token(), sampling.logits().tolist(), sampling.candidates().tolist()) == (5, [1.0, 3.0], [7, 9])
    assert sampling.probabilities().tolist() == [1.0, 3.0]
    device.logits = device.ids = []
    assert [len(each()) for each in (sampling.logits, sampling.probabilities, sampling.candidates)] == [0, 0, 0]
    for read in (sampling.token, sampling.logits, sampling.probabilities, sampling.candidates):
        with pytest.raises(OutputIndexError):
            read(9)


@pytest.mark.parametrize("seq_id", [-1, 2])
def test_sequences_out_of_range(context: Context, seq_id: int) -> None:
    with SamplerChain() as chain, pytest.raises(SequenceIdError):
        DeviceSampling(context).attach(seq_id, chain)


@pytest.mark.parametrize(
    "build", [lambda chain, vocab: chain.add_grammar(vocab, "ab"), lambda chain, _: chain.add_penalties(0, 64, 1.1, 0, 0)]
)
def test_what_cannot_run_there(context: Context, build: Any) -> None:
    with SamplerChain() as chain:
        build(chain, context.vocab)
        with pytest.raises(SamplerChainError, match="cannot run on a device"):
            DeviceSampling(context).attach(0, chain)
        assert chain.device is None
    assert llama.llama_set_sampler is not None
