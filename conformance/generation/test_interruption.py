"""Streams left alone, aborts, threads and mistakes: the next call works as if nothing had been."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from rig import material
from rig.generation import GREEDY, PROMPT, finish_reason, joined, text

from llama_cpp import Llama

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

N_TOKENS = 16


def reference(llama: Llama) -> str:
    llama.reset()
    produced = text(llama.create_completion(PROMPT, max_tokens=N_TOKENS, **GREEDY))
    llama.reset()
    return produced


def assert_works(llama: Llama, due: str) -> None:
    assert text(llama.create_completion(PROMPT, max_tokens=N_TOKENS, **GREEDY)) == due


@pytest.mark.parametrize("steps", [0, 1, 5])
@pytest.mark.parametrize("how", ["close", "drop"])
def test_abandoned_stream(text_model: Llama, steps: int, how: str) -> None:
    due = reference(text_model)
    stream = text_model.create_completion(PROMPT, max_tokens=N_TOKENS, stream=True, **GREEDY)
    for _ in range(steps):
        next(stream)
    if how == "close":
        stream.close()
    del stream
    assert_works(text_model, due)


def test_consumer_that_raises(synthetic: Llama) -> None:
    due = reference(synthetic)

    def consume(stream: Iterator[Any]) -> None:
        next(stream)
        raise KeyError("the consumer's own")

    with pytest.raises(KeyError, match="own"):
        consume(synthetic.create_completion(PROMPT, max_tokens=N_TOKENS, stream=True, **GREEDY))
    assert_works(synthetic, due)


def test_abort_in_a_stream(text_model: Llama) -> None:
    due = reference(text_model)
    stream = text_model.create_completion(PROMPT, max_tokens=200, stream=True, **GREEDY)
    head = next(stream)
    text_model.abort()
    _, reason = joined([head, *stream])
    assert reason == "abort"
    assert_works(text_model, due)


@pytest.mark.once_per_wheel
def test_abort_from_another_thread(smollm2: Llama) -> None:
    due = reference(smollm2)
    timer = threading.Timer(0.3, smollm2.abort)
    timer.start()
    started = time.monotonic()
    completion = smollm2.create_completion(PROMPT, max_tokens=450, **GREEDY)
    timer.join()
    assert finish_reason(completion) == "abort"
    assert completion["usage"]["completion_tokens"] < 450
    assert time.monotonic() - started < 5
    assert_works(smollm2, due)


def test_abort_while_idle_does_not_stop_the_next_call(synthetic: Llama) -> None:
    due = reference(synthetic)
    synthetic.abort()
    assert_works(synthetic, due)


def in_threads(*jobs: Any) -> list[Any]:
    results: list[Any] = [None] * len(jobs)
    failures: list[Exception] = []

    def work(index: int) -> None:
        try:
            results[index] = jobs[index]()
        except Exception as error:  # noqa: BLE001 - shown by the assertion
            failures.append(error)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads), "the threads wait for each other for ever"
    assert failures == []
    return results


def test_threads_on_one_object_wait_for_each_other(text_model: Llama) -> None:
    due = reference(text_model)
    jobs = [lambda: text(text_model.create_completion(PROMPT, max_tokens=N_TOKENS, **GREEDY)) for _ in range(2)]
    jobs += [lambda: joined(text_model.create_completion(PROMPT, max_tokens=N_TOKENS, stream=True, **GREEDY))[0] for _ in range(2)]
    assert in_threads(*jobs) == [due] * 4


@pytest.mark.once_per_wheel
def test_two_objects_run_side_by_side(smollm2: Llama) -> None:
    due = reference(smollm2)
    with Llama(str(material.model(material.TRANSFORMER)), n_ctx=256, n_threads=1, verbose=False) as other:
        jobs = [lambda llama=llama: text(llama.create_completion(PROMPT, max_tokens=N_TOKENS, **GREEDY)) for llama in (smollm2, other)]
        assert in_threads(*jobs) == [due, due]


@pytest.mark.logs_native_errors
class TestMistakes:
    """Bad input gets a clear error, and the object stays usable."""

    def test_missing_file(self) -> None:
        with pytest.raises(ValueError, match=r"no-such-model\.gguf"):
            Llama("no-such-model.gguf", verbose=False)

    def test_folder_as_model(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=tmp_path.name):
            Llama(str(tmp_path), verbose=False)

    @pytest.mark.parametrize(
        "content", [b"", b"GGUF", b"no model at all" * 100, b"GGUF\x03\0\0\0" + b"\xff" * 64], ids=["empty", "magic", "garbage", "counts"]
    )
    def test_garbage_file(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "broken.gguf"
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"broken\.gguf"):
            Llama(str(path), verbose=False)

    def test_truncated_model(self, tmp_path: Path) -> None:
        path = tmp_path / "short.gguf"
        content = material.model(material.SYNTH_LLAMA).read_bytes()
        path.write_bytes(content[: len(content) * 2 // 3])
        with pytest.raises(ValueError, match=r"short\.gguf"):
            Llama(str(path), verbose=False)

    @pytest.mark.parametrize("n_ctx", [-5, 2**33, 2**40])
    def test_absurd_context(self, n_ctx: int) -> None:
        with pytest.raises(ValueError, match="n_ctx"):
            Llama(str(material.model(material.SYNTH_LLAMA)), n_ctx=n_ctx, verbose=False)

    def test_prompt_longer_than_the_context(self, synthetic: Llama) -> None:
        due = reference(synthetic)
        with pytest.raises(ValueError, match="exceed context window of 512"):
            synthetic.create_completion("word " * 2000, max_tokens=4)
        assert_works(synthetic, due)

    @pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
    @pytest.mark.parametrize("token", [-1, 10**6, 2**40])
    def test_token_out_of_range(self, text_model: Llama, token: int, stream: bool) -> None:
        due = reference(text_model)
        with pytest.raises(ValueError, match=str(token)):
            list(text_model.create_completion([1, token, 2], max_tokens=2, stream=stream))
        assert_works(text_model, due)

    @pytest.mark.parametrize("prompt", [None, 5, 1.5, [1.5], ["a"], {"a": 1}], ids=repr)
    def test_prompt_of_a_wrong_type(self, synthetic: Llama, prompt: object) -> None:
        with pytest.raises((TypeError, ValueError)):
            synthetic.create_completion(prompt, max_tokens=2)

    def test_text_that_is_no_unicode(self, synthetic: Llama) -> None:
        due = reference(synthetic)
        with contextlib.suppress(ValueError):  # refused, or taken as the bytes that it is: but never fatal
            synthetic.create_completion("\ud800", max_tokens=2)
        assert_works(synthetic, due)

    def test_generation_without_weights(self) -> None:
        path = material.vendor_file("models/ggml-vocab-gpt-2.gguf")
        with Llama(str(path), vocab_only=True, verbose=False) as llama, pytest.raises((RuntimeError, ValueError)):
            llama.create_completion("Hello", max_tokens=1)

    def test_unknown_argument_is_named(self) -> None:
        with (
            pytest.warns(UserWarning, match="vebose"),
            Llama(str(material.model(material.SYNTH_LLAMA)), n_ctx=64, vebose=False, verbose=False) as llama,
        ):
            assert text(llama.create_completion("Hello", max_tokens=2)) is not None


def test_empty_prompt_generates(text_model: Llama) -> None:
    completion = text_model.create_completion("", max_tokens=4, **GREEDY)
    assert completion["usage"]["completion_tokens"] == 4
