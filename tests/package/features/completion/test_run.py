"""A completion from request to response, over a fake context and scripted tokens."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._features.completion import run as run_module
from llama_cpp._features.completion.request import CompletionRequest
from llama_cpp._features.completion.run import CompletionRun, Prompt
from llama_cpp._features.errors import ContextWindowError
from llama_cpp._features.generation.live import as_tokens
from llama_cpp._features.sampling.parameters import SamplingParams
from tests.package.features.fakes import END, FakeChain, fake_runtime


class Bench:
    """Completions of one prompt by a scripted model."""

    def __init__(self, pieces: list[bytes], *, ends: bool = True, **options: Any) -> None:
        self.runtime = fake_runtime(dict(enumerate(pieces)), **options)
        self.script = [*range(len(pieces)), *([END] if ends else [])]
        self.chains: list[FakeChain] = []

    def chain(self, *_: object, **__: object) -> FakeChain:
        self.chains.append(FakeChain(self.runtime.context, self.script))
        return self.chains[-1]

    def request(self, *, prompt: tuple[int, ...] = (1, 2, 3), echoed: str = "", appended: str = "", **changes: Any) -> CompletionRun:
        fields: dict[str, Any] = {"max_tokens": None, "stops": (), "echo": bool(echoed), "model": None, "suffix": None, "logprobs": None}
        request = CompletionRequest(prompt=prompt, sampling=SamplingParams(), **{**fields, **changes})
        return CompletionRun(None, self.runtime, request, Prompt(as_tokens(prompt), echoed, appended=appended), model="some-model")


@pytest.fixture(autouse=True)
def scripted(monkeypatch: pytest.MonkeyPatch) -> list[Bench]:
    benches: list[Bench] = []

    def newest(*_: object, **__: object) -> FakeChain:
        return benches[-1].chain()

    monkeypatch.setattr(run_module, "build_chain", newest)
    return benches


def choice(response: Any) -> tuple[str, str | None]:
    return response["choices"][0]["text"], response["choices"][0]["finish_reason"]


def streamed(run: CompletionRun) -> tuple[str, str | None]:
    chunks = list(run.stream())
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks[:-1]] == [None] * (len(chunks) - 1)
    assert chunks[-1]["choices"][0]["text"] == ""
    assert all(chunk["choices"][0]["text"] for chunk in chunks[:-1])
    assert all("usage" not in chunk for chunk in chunks)
    assert len({chunk["id"] for chunk in chunks}) == 1
    return "".join(chunk["choices"][0]["text"] for chunk in chunks), chunks[-1]["choices"][0]["finish_reason"]


def test_a_whole_response(scripted: list[Bench]) -> None:
    bench = Bench([b"Hel", b"lo"])
    scripted.append(bench)
    response = bench.request().whole()
    assert choice(response) == ("Hello", "stop")
    assert response["id"].startswith("cmpl-")
    assert (response["object"], response["model"]) == ("text_completion", "some-model")
    assert response["choices"][0]["index"] == 0
    assert response["choices"][0]["logprobs"] is None
    assert response["usage"] == {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}


@pytest.mark.parametrize(("limit", "text"), [(0, ""), (1, "a"), (2, "ab"), (3, "abc"), (9, "abc")])
def test_max_tokens_is_exact(scripted: list[Bench], limit: int, text: str) -> None:
    bench = Bench([b"a", b"b", b"c"])
    scripted.append(bench)
    response = bench.request(max_tokens=limit).whole()
    assert choice(response) == (text, "stop" if limit > 3 else "length")
    assert response["usage"]["completion_tokens"] == len(text)


def test_an_unfinished_character_does_not_cost_a_token_more(scripted: list[Bench]) -> None:
    bench = Bench([b"\xe2", b"\x82", b"\xac"])
    scripted.append(bench)
    assert choice(bench.request(max_tokens=2).whole()) == ("\ufffd", "length")


def test_without_a_limit_it_goes_on_to_the_end_of_the_context(scripted: list[Bench]) -> None:
    bench = Bench([b"x"] * 90, ends=False, n_ctx=16)
    scripted.append(bench)
    response = bench.request().whole()
    assert choice(response) == ("x" * 13, "length")


def test_a_prompt_that_fills_the_context_is_refused(scripted: list[Bench]) -> None:
    bench = Bench([b"x"], n_ctx=3)
    scripted.append(bench)
    with pytest.raises(ContextWindowError, match=r"Requested tokens \(3\) exceed context window of 3"):
        bench.request()


def test_a_stop_string_over_several_tokens(scripted: list[Bench]) -> None:
    bench = Bench([b"one E", b"N", b"D two"])
    scripted.append(bench)
    response = bench.request(stops=("END",)).whole()
    assert choice(response) == ("one ", "stop")
    assert response["usage"]["completion_tokens"] == 3
    assert len(bench.script) == 4
    assert len(bench.chains[0].script or []) == 1  # the end token was never sampled


def test_a_stop_that_never_completes_is_text(scripted: list[Bench]) -> None:
    bench = Bench([b"one E", b"N"])
    scripted.append(bench)
    assert choice(bench.request(stops=("END",)).whole()) == ("one EN", "stop")


def test_echo_comes_first(scripted: list[Bench]) -> None:
    bench = Bench([b" END"])
    scripted.append(bench)
    assert choice(bench.request(echoed="the END", stops=("END",)).whole()) == ("the END ", "stop")
    chunks = list(bench.request(echoed="the END", max_tokens=0).stream())
    assert [choice(chunk) for chunk in chunks] == [("the END", None), ("", "length")]


def test_a_suffix_that_the_model_cannot_fill_to_comes_last(scripted: list[Bench]) -> None:
    bench = Bench([b"one"])
    scripted.append(bench)
    assert choice(bench.request(appended=" end").whole()) == ("one end", "stop")
    assert streamed(bench.request(appended=" end")) == ("one end", "stop")


@given(
    st.lists(st.binary(max_size=3), max_size=8),
    st.lists(st.text(alphabet="ab\n\ufffd", max_size=3), max_size=3),
    st.one_of(st.none(), st.integers(0, 9)),
)
def test_a_stream_says_the_same_as_the_whole(pieces: list[bytes], stops: list[str], limit: int | None) -> None:
    with pytest.MonkeyPatch.context() as patch:
        bench = Bench(pieces)
        patch.setattr(run_module, "build_chain", bench.chain)
        whole = choice(bench.request(stops=tuple(stops), max_tokens=limit).whole())
        assert streamed(bench.request(stops=tuple(stops), max_tokens=limit)) == whole
        assert all(chain.closed for chain in bench.chains)


def test_an_abandoned_stream_leaves_all_usable(scripted: list[Bench]) -> None:
    bench = Bench([b"a", b"b", b"c"])
    scripted.append(bench)
    stream = bench.request().stream()
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert bench.chains[0].closed
    assert bench.runtime.live.tokens.tolist() == bench.runtime.context.cells
    assert choice(bench.request().whole()) == ("abc", "stop")


def test_a_stream_that_was_never_started_holds_nothing(scripted: list[Bench]) -> None:
    bench = Bench([b"a"])
    scripted.append(bench)
    waiting = bench.request().stream()
    assert choice(bench.request().whole()) == ("a", "stop")
    assert bench.runtime.turns.abort() is False
    del waiting


def test_abort_ends_a_stream_with_what_was_held_back(scripted: list[Bench]) -> None:
    bench = Bench([b"a E", b"b"])
    scripted.append(bench)
    stream = bench.request(stops=("END",)).stream()
    assert choice(next(stream)) == ("a ", None)
    assert bench.runtime.turns.abort()
    assert [choice(chunk) for chunk in stream] == [("E", None), ("", "abort")]
    assert choice(bench.request().whole()) == ("a Eb", "stop")


def test_an_interrupt_is_a_cancellation(scripted: list[Bench]) -> None:
    bench = Bench([b"a", b"b", b"c"])
    scripted.append(bench)

    def interrupt(tokens: list[int]) -> None:
        if tokens == [1]:
            raise KeyboardInterrupt

    bench.runtime.context.before_decode = interrupt
    assert choice(bench.request().whole()) == ("ab", "abort")
    bench.runtime.context.before_decode = lambda _: None
    assert choice(bench.request().whole()) == ("abc", "stop")
