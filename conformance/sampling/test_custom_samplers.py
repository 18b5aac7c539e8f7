"""Samplers written in Python, within native chains: what they change, what they raise, how long they live."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from llama_cpp import Llama, _internals

if TYPE_CHECKING:
    from collections.abc import Iterator

LIKED, DISLIKED = 7, 9


@pytest.fixture
def context(synthetic: Llama) -> _internals.LlamaContext:
    synthetic.eval([1, 2, 3])
    return synthetic._ctx


@pytest.fixture
def sampler() -> Iterator[_internals.LlamaSampler]:
    with _internals.LlamaSampler() as made:
        yield made


def raise_liked(candidates: Any) -> None:
    candidates.logits[candidates.ids == LIKED] = 1000.0


def test_it_changes_what_is_chosen(context: _internals.LlamaContext, sampler: _internals.LlamaSampler) -> None:
    assert sampler.add_custom(raise_liked).add_dist(1).sample(context) == LIKED
    assert sampler.names == ["custom", "dist"]


def test_its_place_in_the_chain_counts(context: _internals.LlamaContext) -> None:
    sizes: list[int] = []
    custom = _internals.CustomSampler(lambda candidates: sizes.append(candidates.size))
    for build in (lambda chain: chain.add_custom(custom).add_top_k(5), lambda chain: chain.add_top_k(5).add_custom(custom)):
        with _internals.LlamaSampler() as chain:
            build(chain).add_dist(1).sample(context)
    assert sizes == [context.model.n_vocab(), 5]


def test_it_sees_the_models_logits(context: _internals.LlamaContext, sampler: _internals.LlamaSampler) -> None:
    seen: list[Any] = []
    sampler.add_custom(lambda candidates: seen.append((candidates.ids.copy(), candidates.logits.copy()))).add_greedy().sample(context)
    ids, logits = seen[0]
    assert np.array_equal(ids, np.arange(len(ids)))
    assert np.array_equal(logits, context.get_logits_ith(-1))


def test_it_can_choose_by_itself(context: _internals.LlamaContext, sampler: _internals.LlamaSampler) -> None:
    def choose(candidates: Any) -> None:
        candidates.selected = int(np.flatnonzero(candidates.ids == LIKED)[0])

    sampler.add_custom(_internals.CustomSampler(choose, selects=True))
    assert sampler.sample(context) == LIKED
    with pytest.raises(RuntimeError, match="nothing can follow"):
        sampler.add_greedy()


def test_it_hears_what_was_accepted_and_resets(context: _internals.LlamaContext, sampler: _internals.LlamaSampler) -> None:
    heard: list[Any] = []
    sampler.add_custom(_internals.CustomSampler(raise_liked, heard.append, lambda: heard.append("reset"))).add_greedy()
    sampler.sample(context)
    sampler.accept(DISLIKED)
    sampler.reset()
    assert heard == [LIKED, DISLIKED, "reset"]


def test_with_a_grammar(context: _internals.LlamaContext, sampler: _internals.LlamaSampler) -> None:
    calls: list[int] = []
    sampler.add_custom(lambda candidates: (calls.append(1), raise_liked(candidates)))
    sampler.add_grammar(context.model, 'root ::= "he" "l"+').add_greedy()
    produced = b"".join(context.model.token_to_piece(sampler.sample(context)) for _ in range(3))
    assert b"hell".startswith(produced) or produced.startswith(b"he")
    assert len(calls) > 3, "where its choice is refused it is asked again"


@pytest.mark.parametrize("role", ["apply", "accept", "reset", "clone"])
def test_what_it_raises_is_raised(context: _internals.LlamaContext, sampler: _internals.LlamaSampler, role: str) -> None:
    def fail(*_: object) -> Any:
        raise KeyError(role)

    functions: dict[str, Any] = {"apply_func": lambda _: None, f"{role}_func": fail}
    sampler.add_custom(_internals.CustomSampler(**functions)).add_greedy()
    calls = {"apply": lambda: sampler.sample(context), "accept": lambda: sampler.accept(1), "reset": sampler.reset, "clone": sampler.clone}
    for _ in range(2):
        with pytest.raises(KeyError, match=role):
            calls[role]()


def test_an_interrupt_in_it_is_raised(context: _internals.LlamaContext, sampler: _internals.LlamaSampler) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sampler.add_custom(interrupt).add_greedy().sample(context)


def test_copies_have_states_of_their_own(context: _internals.LlamaContext) -> None:
    class Counter:
        def __init__(self, count: int = 0) -> None:
            self.count = count

        def accept(self, _: int) -> None:
            self.count += 1

        def sampler(self) -> _internals.CustomSampler:
            return _internals.CustomSampler(raise_liked, self.accept, clone_func=self.copy)

        def copy(self) -> _internals.CustomSampler:
            copies.append(Counter(self.count))
            return copies[-1].sampler()

    copies: list[Counter] = []
    counter = Counter()
    with _internals.LlamaSampler() as sampler:
        sampler.add_custom(counter.sampler()).add_greedy()
        sampler.sample(context)
        with sampler.clone() as copy:
            copy.sample(context)
            copy.sample(context)
    assert (counter.count, [each.count for each in copies]) == (1, [3])


def test_it_lives_as_long_as_its_chain(context: _internals.LlamaContext) -> None:
    freed: list[int] = []

    class Apply:
        def __call__(self, candidates: Any) -> None:
            raise_liked(candidates)

    function = Apply()
    watched = weakref.ref(function)
    sampler = _internals.LlamaSampler().add_custom(_internals.CustomSampler(function, free_func=lambda: freed.append(1))).add_greedy()
    del function
    gc.collect()
    assert sampler.sample(context) == LIKED
    sampler.close()
    gc.collect()
    assert (watched(), freed) == (None, [1])


def test_one_of_them_in_two_chains(context: _internals.LlamaContext) -> None:
    freed: list[int] = []
    custom = _internals.CustomSampler(raise_liked, free_func=lambda: freed.append(1))
    first, second = _internals.LlamaSampler().add_custom(custom).add_greedy(), _internals.LlamaSampler().add_custom(custom).add_greedy()
    first.close()
    assert (second.sample(context), freed) == (LIKED, [1])
    second.close()
    assert freed == [1, 1]


def test_chains_of_several_threads(context: _internals.LlamaContext) -> None:
    logits = context.get_logits_ith(-1).copy()
    wrong: list[Any] = []

    def work(number: int) -> None:
        custom = _internals.CustomSampler(lambda candidates: candidates.logits.__setitem__(number, 1000.0))
        candidates = _internals.LlamaTokenDataArray(len(logits))
        for _ in range(50):
            with _internals.LlamaSampler() as sampler:
                candidates.copy_logits(logits)
                sampler.add_custom(custom).add_greedy().apply(candidates)
                chosen = int(candidates.candidates_data["id"][candidates.candidates.selected])
                if chosen != number:
                    wrong.append((number, chosen))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []


def test_through_a_sampling_context(context: _internals.LlamaContext) -> None:
    params = _internals.LlamaSamplingParams(temp=0.0, custom=(_internals.CustomSampler(raise_liked),))
    with _internals.LlamaSamplingContext(params) as sampling:
        assert sampling.sample(context) == LIKED
