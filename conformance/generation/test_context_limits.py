"""At the end of the context: a completion stops there and says so, whatever memory the model has, and nothing is shifted out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from rig import child, material
from rig.generation import GREEDY, finish_reason, joined, text

from llama_cpp import Llama

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.once_per_wheel

N_CTX = 256
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": (material.SYNTH_LLAMA, {}),
    "sliding window": (material.SYNTH_GEMMA3, {"swa_full": False}),
    "sliding window kept in full": (material.SYNTH_GEMMA3, {"swa_full": True}),
    "hybrid": (material.SYNTH_LFM2, {}),
    "hybrid with deltas": (material.SYNTH_QWEN35, {}),
    "recurrent": (material.SYNTH_MAMBA2, {}),
    "recurrent with shifts": (material.SYNTH_RWKV7, {}),
}


OPTIONS = {"n_ctx": N_CTX, "n_batch": 64, "n_threads": 1, "n_threads_batch": 1, "verbose": False}


def opened(variable: str, **options: Any) -> Llama:
    return Llama(str(material.model(variable)), **{**OPTIONS, **options})


@pytest.fixture(scope="module", params=KINDS.values(), ids=KINDS)
def pair(request: pytest.FixtureRequest) -> Iterator[tuple[Llama, Llama]]:
    """The same model with a small context and with a large one."""
    variable, options = request.param
    with opened(variable, **options) as small, opened(variable, n_ctx=2 * N_CTX, **options) as large:
        yield small, large


@pytest.fixture
def small(pair: tuple[Llama, Llama]) -> Llama:
    pair[0].reset()
    return pair[0]


def prompt_of(llama: Llama, length: int) -> list[int]:
    tokens = llama.tokenize(("one two three four five six seven " * 60).encode())
    return tokens[:length]


def test_it_stops_there_and_all_before_is_right(pair: tuple[Llama, Llama]) -> None:
    small, large = pair
    prompt = prompt_of(small, 200)
    large.reset()
    due = text(large.create_completion(prompt, max_tokens=56, **GREEDY))
    for limit in (None, -1, 10 * N_CTX):
        small.reset()
        cut = small.create_completion(prompt, max_tokens=limit, **GREEDY)
        assert (text(cut), finish_reason(cut)) == (due, "length")
        assert cut["usage"] == {"prompt_tokens": 200, "completion_tokens": 56, "total_tokens": N_CTX}
    assert joined(small.create_completion(prompt, max_tokens=None, stream=True, **GREEDY)) == (due, "length")


def test_a_full_context_does_not_disturb_the_next_call(small: Llama) -> None:
    prompt = prompt_of(small, 100)
    due = text(small.create_completion(prompt, max_tokens=16, **GREEDY))
    small.create_completion(prompt_of(small, 150), max_tokens=None, **GREEDY)
    assert text(small.create_completion(prompt, max_tokens=16, **GREEDY)) == due
    small.create_completion(prompt, max_tokens=None, **GREEDY)
    assert text(small.create_completion(prompt, max_tokens=16, **GREEDY)) == due


def test_a_prompt_needs_room_for_one_token(small: Llama) -> None:
    due = text(small.create_completion(prompt_of(small, 10), max_tokens=4, **GREEDY))
    completion = small.create_completion(prompt_of(small, N_CTX - 1), max_tokens=None, **GREEDY)
    assert completion["usage"]["completion_tokens"] == 1
    for length in (N_CTX, N_CTX + 1):
        with pytest.raises(ValueError, match=rf"Requested tokens \({length}\) exceed context window of {N_CTX}"):
            small.create_completion(prompt_of(small, length), max_tokens=1, **GREEDY)
    assert text(small.create_completion(prompt_of(small, 10), max_tokens=4, **GREEDY)) == due


def test_tokens_one_by_one(small: Llama) -> None:
    """The last one is never evaluated, so it may stand one past the context. Those sent in do not pass the end."""
    prompt = prompt_of(small, 200)
    assert len(list(small.generate(prompt, temp=0.0))) in (56, 57)
    tokens = small.generate(prompt, temp=0.0)
    next(tokens)
    with pytest.raises(StopIteration):
        tokens.send(prompt_of(small, 100))


def test_evaluating_past_the_end_is_an_error_that_changes_nothing(small: Llama) -> None:
    small.eval(prompt_of(small, 200))
    with pytest.raises(ValueError, match=f"exceed context window of {N_CTX}"):
        small.eval(prompt_of(small, 57))
    assert small.n_tokens == 200
    small.eval(prompt_of(small, 56))
    assert small.n_tokens == N_CTX


def test_an_encoders_input_has_its_own_limit() -> None:
    with opened(material.SYNTH_T5) as llama:
        prompt = prompt_of(llama, 64)
        due = text(llama.create_completion(prompt, max_tokens=8, **GREEDY))
        with pytest.raises(ValueError, match="65"):
            llama.create_completion(prompt_of(llama, 65), max_tokens=8, **GREEDY)
        assert text(llama.create_completion(prompt, max_tokens=8, **GREEDY)) == due
        full = llama.create_completion(prompt, max_tokens=None, **GREEDY)
        assert (finish_reason(full), full["usage"]["completion_tokens"]) == ("length", N_CTX - 1)


def test_keeping_a_beginning_is_refused_by_name() -> None:
    with pytest.warns(UserWarning, match="n_keep=8 has no effect: a full context ends the completion"):
        llama = opened(material.SYNTH_LLAMA, n_keep=8)
    with llama:
        assert llama.n_keep == 8
        assert finish_reason(llama.create_completion("one", max_tokens=None, **GREEDY)) == "length"


SIZES = """
    import itertools, sys
    from llama_cpp import Llama
    from llama_cpp.errors import ContextCreateError
    refused = served = 0
    for n_batch, n_seq_max, unified, n_outputs_max in itertools.product((1, 4, 64), (1, 3, 64), (None, False, True), (0, 2)):
        options = {"n_batch": n_batch, "n_ubatch": n_batch, "n_seq_max": n_seq_max, "kv_unified": unified, "n_outputs_max": n_outputs_max}
        try:
            with Llama(sys.argv[1], n_ctx=64, n_threads=1, n_threads_batch=1, verbose=False, **options) as llama:
                served += llama([3], max_tokens=2)["usage"]["completion_tokens"] == 2
        except ContextCreateError:
            refused += 1
    print([served, refused])
"""


@pytest.mark.parametrize("variable", [material.SYNTH_LLAMA, material.SYNTH_LFM2, material.SYNTH_T5], ids=["llama", "lfm2", "t5"])
def test_no_sizes_end_the_process(variable: str) -> None:
    """llama.cpp asserts that there is an output for each sequence, and that an encoder's readers share one cache."""
    served, refused = child.run(SIZES, material.model(variable)).json()
    assert served + refused == 54
    assert served >= 24
    assert refused >= 6
