"""Memory that cannot be cut: conversations evaluate only what is new, counted in tokens, and say what they would from scratch."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from rig.memories import MEMORIES, UNCUTTABLE, Memory, assert_same, logits_from_scratch, tokens

from llama_cpp import HybridCheckpointCache, Llama
from llama_cpp.errors import ClosedError

if TYPE_CHECKING:
    from collections.abc import Iterator

ON_DEVICE = "hybrid, on the device"


@pytest.fixture(scope="module", params=UNCUTTABLE)
def memory(request: pytest.FixtureRequest) -> Memory:
    return MEMORIES[request.param]


@pytest.fixture(scope="module")
def opened(memory: Memory) -> Iterator[tuple[Llama, Llama]]:
    with memory.open() as one, memory.open(ctx_checkpoints=0) as fresh:
        yield one, fresh


@pytest.fixture
def pair(opened: tuple[Llama, Llama]) -> tuple[Llama, Llama]:
    opened[0].reset()
    return opened


def evaluated(pair: tuple[Llama, Llama], memory: Memory, prompt: list[int]) -> int:
    """How many tokens a prompt costs; its logits have to be those from scratch."""
    result = pair[0].prefill(prompt)
    assert_same(result.logits, logits_from_scratch(pair[1], prompt), memory.tolerance)
    return result.n_evaluated


def test_a_conversation_evaluates_the_new_turn_only(pair: tuple[Llama, Llama], memory: Memory) -> None:
    """The answer comes back as other tokens than were sampled: thinking is left out, or spelled anew."""
    llama = pair[0]
    conversation = tokens(150)
    for turn in range(1, 4):
        list(itertools.islice(llama.generate(conversation, temp=0.0), 12))
        following = [*conversation, *tokens(10, seed=turn), *tokens(15, seed=turn + 9)]
        new = len(following) - len(conversation)
        # A state stands before a prompt's last token; a window can be cut right after it.
        assert evaluated(pair, memory, following) == (new if memory is MEMORIES["window only"] else new + 1)
        conversation = following


def test_an_answer_that_comes_back_as_it_was_is_not_evaluated_again(pair: tuple[Llama, Llama], memory: Memory) -> None:
    llama = pair[0]
    answer = list(itertools.islice(llama.generate(tokens(100), temp=0.0), 12))
    assert evaluated(pair, memory, [*tokens(100), *answer, 50, 51]) == 3


def test_the_same_prompt_again_evaluates_one_token(pair: tuple[Llama, Llama]) -> None:
    prompt = tokens(200)
    first = pair[0].prefill(prompt)
    again = pair[0].prefill(prompt)
    assert (first.n_evaluated, again.n_evaluated) == (200, 1)
    assert_same(again.logits, first.logits, 0.0)


def test_a_fork_goes_back_to_the_last_checkpoint_before_it(pair: tuple[Llama, Llama], memory: Memory) -> None:
    """Checkpoints lie every 64 tokens, and, from then on, where two prompts parted. On the device there is only the newest."""
    prompt = tokens(300)
    pair[0].prefill(prompt)
    forks = [[*prompt[:200], 31, 32], [*prompt[:200], 41, 42, 43]]
    cost = evaluated(pair, memory, forks[0])
    if memory is MEMORIES[ON_DEVICE]:
        assert cost == 202
    elif memory is MEMORIES["window only"]:
        assert cost <= 202 - 192
    else:
        assert cost == 202 - 192
        assert evaluated(pair, memory, forks[1]) == 3


def test_an_abort_leaves_no_checkpoint_and_the_next_prompt_is_right(pair: tuple[Llama, Llama], memory: Memory) -> None:
    llama = pair[0]
    stream = llama.generate(tokens(120), temp=0.0)
    next(stream)
    llama.abort()
    assert next(stream, None) is None
    prompt = [*tokens(120), 9, 9]
    assert evaluated(pair, memory, prompt) <= 122
    llama.reset()
    assert llama._hybrid_cache_mgr is not None
    assert llama._hybrid_cache_mgr.checkpoints == []


def test_none_are_made_where_none_are_wanted_or_needed(pair: tuple[Llama, Llama]) -> None:
    assert pair[1]._hybrid_cache_mgr is None
    with MEMORIES["attention"].open() as llama:
        assert llama._hybrid_cache_mgr is None


def test_the_number_is_kept(memory: Memory) -> None:
    with memory.open(ctx_checkpoints=3, checkpoint_interval=16) as llama:
        llama.prefill(tokens(200))
        assert llama._hybrid_cache_mgr is not None
        assert 1 <= len(llama._hybrid_cache_mgr.checkpoints) <= 3


@pytest.mark.parametrize("on_device", [False, True])
def test_a_cache_of_ones_own(on_device: bool) -> None:
    """As programs use it that drive a context themselves; it is told of everything that is done through this package."""
    with MEMORIES["hybrid"].open(ctx_checkpoints=0) as llama:
        cache = HybridCheckpointCache(llama, on_device=on_device)
        llama.eval(tokens(40))
        assert not cache.save_checkpoint(39, tokens(39))
        assert cache.save_checkpoint(40, tokens(40))
        (checkpoint,) = cache.checkpoints
        assert (checkpoint.pos, checkpoint.pos_max) == (40, 39)
        row = llama.scores[-1].copy()
        llama.eval([5, 6, 7])
        assert cache.find_best_checkpoint([*tokens(40), 5]) is checkpoint
        assert cache.restore_checkpoint(checkpoint)
        result = llama.prefill([*tokens(40), 8])
        assert_same(result.logits, logits_from_scratch(llama, [*tokens(40), 8]), 1e-3)
        assert cache.checkpoints == [], "a reset leaves nothing to go back to"
        assert not cache.restore_checkpoint(checkpoint)
        assert row.shape == result.logits.shape
    assert cache.checkpoints == []
    with pytest.raises(ClosedError):
        cache.save_checkpoint(1, [1])


def test_on_the_device_a_later_save_of_any_cache_takes_the_place() -> None:
    with MEMORIES["hybrid"].open(ctx_checkpoints=0) as llama:
        one, other = (HybridCheckpointCache(llama, on_device=True) for _ in range(2))
        host = HybridCheckpointCache(llama)
        llama.eval(tokens(10))
        for cache in (one, host):
            assert cache.save_checkpoint(10, tokens(10))
        (stale,) = one.checkpoints
        llama.eval(tokens(20)[10:])
        assert other.save_checkpoint(20, tokens(20))
        assert one.checkpoints == []
        assert not one.restore_checkpoint(stale)
        assert [each.pos for each in host.checkpoints] == [10]
        assert host.restore_checkpoint(host.checkpoints[0])
        assert other.checkpoints == [], "what stood behind it went with it"
