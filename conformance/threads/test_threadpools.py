"""Thread pools: attached and detached, shared, closed under a context; and the thread counts of a context."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest
from rig import material
from rig.generation import GREEDY, PROMPT, text

from llama_cpp import Llama, ThreadPool

if TYPE_CHECKING:
    from collections.abc import Iterator

N_TOKENS = 8


@pytest.fixture
def llama() -> Iterator[Llama]:
    with Llama(str(material.model(material.SYNTH_LLAMA)), n_ctx=256, n_threads=2, n_threads_batch=2, verbose=False) as made:
        yield made


def answer(llama: Llama) -> str:
    llama.reset()
    return text(llama.create_completion(PROMPT, max_tokens=N_TOKENS, **GREEDY))


def test_a_pool_computes_the_same(llama: Llama) -> None:
    due = answer(llama)
    with ThreadPool(2, poll=0) as pool, ThreadPool(1) as batch:
        llama.attach_threadpool(pool)
        assert answer(llama) == due
        llama.attach_threadpool(pool, batch)
        assert answer(llama) == due
        assert (llama._ctx.n_threads(), llama._ctx.n_threads_batch()) == (2, 1)
        llama.detach_threadpool()
        assert (llama._ctx.n_threads(), llama._ctx.n_threads_batch()) == (2, 2), "the context's own counts are back"
        assert answer(llama) == due


def test_a_pool_is_shared(llama: Llama) -> None:
    due = answer(llama)
    with (
        Llama(str(material.model(material.SYNTH_LLAMA)), n_ctx=256, n_threads=2, n_threads_batch=2, verbose=False) as other,
        ThreadPool(2, poll=0) as pool,
    ):
        for each in (llama, other):
            each.attach_threadpool(pool)
        assert [answer(each) for each in (llama, other, llama)] == [due] * 3


def test_closing_a_pool_detaches_it(llama: Llama) -> None:
    due = answer(llama)
    pool = ThreadPool(2, poll=0)
    llama.attach_threadpool(pool)
    pool.close()
    pool.close()
    assert answer(llama) == due
    with pytest.raises(RuntimeError, match="closed"):
        llama.attach_threadpool(pool)


def test_an_attached_pool_is_kept(llama: Llama) -> None:
    due = answer(llama)
    pool = ThreadPool(2, poll=0)
    llama.attach_threadpool(pool)
    address = pool.pointer
    del pool
    gc.collect()
    assert answer(llama) == due
    (kept, _) = llama._ctx.engine.threadpools
    assert kept.pointer == address
    kept.close()


def test_a_pool_outlives_its_context() -> None:
    with ThreadPool(2, poll=0) as pool:
        with Llama(str(material.model(material.SYNTH_LLAMA)), n_ctx=64, verbose=False) as llama:
            llama.attach_threadpool(pool)
            answer(llama)
        assert not pool.closed


def test_the_address_of_a_native_pool(llama: Llama) -> None:
    due = answer(llama)
    with ThreadPool(2, poll=0) as pool:
        llama.attach_threadpool(pool.pointer)
        assert answer(llama) == due
        llama.detach_threadpool()
        llama.detach_threadpool()


def test_a_smaller_pool_lowers_the_counts(llama: Llama) -> None:
    with ThreadPool(1) as pool:
        llama.attach_threadpool(pool)
        assert llama._ctx.n_threads() == 1
        with pytest.raises(ValueError, match="the attached thread pool has 1 threads"):
            llama._ctx.set_n_threads(2, 2)
        llama.detach_threadpool()


@pytest.mark.parametrize(
    "arguments",
    [{"n_threads": 0}, {"n_threads": 600}, {"n_threads": 2, "poll": 101}, {"n_threads": 1, "priority": 9}, {"n_threads": 1, "cpus": [600]}],
)
def test_values_out_of_range(arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"out of range|must be"):
        ThreadPool(**arguments)


@pytest.mark.parametrize("count", [None, 0, -1])
def test_counts_that_are_left_open(count: int | None) -> None:
    path = str(material.model(material.SYNTH_LLAMA))
    with Llama(path, n_ctx=64, n_threads=count, n_threads_batch=count, verbose=False) as llama:
        assert llama._ctx.n_threads() >= 1
        assert llama._ctx.n_threads_batch() >= 1
