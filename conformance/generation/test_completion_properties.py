"""Properties of completions for any text that a model might write: the text is dictated token by token, by a logits processor."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rig import child, installation, material, profiles
from rig.generation import GREEDY, PROMPT, cut_at_first_stop, finish_reason, joined, text

from llama_cpp import Llama

if TYPE_CHECKING:
    from collections.abc import Callable

DEAR = settings(max_examples=profiles.examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
ALPHABET = "ab \né🦙€"
BYTES = range(5, 261)  # the synthetic vocabulary's tokens of one byte each
PIECES = range(261, 340)  # and some of its pieces of text
TEXTS = st.one_of(st.text(ALPHABET, max_size=14), st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
STOPS = st.lists(st.one_of(st.text(ALPHABET, max_size=4), st.text("abthein", max_size=3)), max_size=4)


def bytes_of(llama: Llama, token: int) -> bytes:
    """What a token adds to a text."""
    anchor = BYTES[ord("x")]
    return llama.detokenize([anchor, token])[1:]


def dictating(prompt: list[int], tokens: list[int], end: int) -> Callable[[Any, Any], Any]:
    """A processor that lets only these tokens follow the prompt, then the end."""

    def only(ids: Any, scores: Any) -> Any:
        place = len(ids) - len(prompt)
        wanted = tokens[place] if place < len(tokens) else end
        scores[:] = -np.inf
        scores[wanted] = 0.0
        return scores

    return only


def check(llama: Llama, tokens: list[int], stops: list[str], limit: int | None) -> None:
    prompt = llama.tokenize(PROMPT.encode())
    options = {"max_tokens": limit, "stop": stops, "logits_processor": dictating(prompt, tokens, llama.token_eos()), **GREEDY}
    whole = llama.create_completion(prompt, **options)
    chunks = list(llama.create_completion(prompt, stream=True, **options))
    written = tokens if limit is None else tokens[:limit]
    plain = b"".join(bytes_of(llama, token) for token in written).decode("utf-8", "replace")
    stopped = any(stop and stop in plain for stop in stops)
    assert text(whole) == cut_at_first_stop(plain, stops)
    assert finish_reason(whole) == ("stop" if stopped or limit is None or limit > len(tokens) else "length")
    count = whole["usage"]["completion_tokens"]
    assert count <= len(written) if stopped else count == len(written)
    assert joined(chunks) == (text(whole), finish_reason(whole))
    assert all(text(chunk) for chunk in chunks[:-1])


@DEAR
@given(written=TEXTS, stops=STOPS, limit=st.one_of(st.none(), st.integers(0, 30)))
def test_any_text_byte_by_byte(shared_synthetic: Llama, written: str, stops: list[str], limit: int | None) -> None:
    check(shared_synthetic, [BYTES[byte] for byte in written.encode()], stops, limit)


@DEAR
@given(tokens=st.lists(st.one_of(st.sampled_from(BYTES), st.sampled_from(PIECES)), max_size=16), stops=STOPS, limit=st.integers(0, 20))
def test_any_tokens_broken_characters_included(shared_synthetic: Llama, tokens: list[int], stops: list[str], limit: int) -> None:
    check(shared_synthetic, tokens, stops, limit)


@settings(DEAR, max_examples=profiles.examples(10))
@given(seed=st.integers(0, 2**32 - 2))
def test_a_seed_repeats(shared_synthetic: Llama, seed: int) -> None:
    sampling = {"temperature": 1.5, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "max_tokens": 8}
    first, again = (text(shared_synthetic.create_completion(PROMPT, seed=seed, **sampling)) for _ in range(2))
    assert first == again


def test_no_argument_is_changed(synthetic: Llama) -> None:
    prompt = synthetic.tokenize(PROMPT.encode())

    def arguments() -> dict[str, Any]:
        return {
            "stop": ["\n\n", "", "###"],
            "logit_bias": {"40": -1.0, 41: 0.5},
            "dry_seq_breakers": ["\n", ":"],
            "logits_processor": [unchanged],
            "stopping_criteria": [never],
            "active_loras": [],
        }

    def unchanged(_ids: Any, scores: Any) -> Any:
        return scores

    def never(_ids: Any, _scores: Any) -> bool:
        return False

    given_arguments, given_prompt = arguments(), list(prompt)
    for _ in range(2):
        synthetic.create_completion(given_prompt, max_tokens=3, dry_multiplier=0.5, **given_arguments)
        list(synthetic.create_completion(given_prompt, max_tokens=3, stream=True, **given_arguments))
        next(synthetic.generate(given_prompt))
        synthetic.eval(given_prompt[:3])
        synthetic.detokenize(given_prompt)
    assert (given_arguments, given_prompt) == (arguments(), prompt)


GROWTH = """
    import gc, json, os, sys
    from llama_cpp import Llama
    llama = Llama(sys.argv[1], n_ctx=256, n_threads=1, n_threads_batch=1, verbose=False)
    page = os.sysconf("SC_PAGE_SIZE")
    def calls(count):
        for number in range(count):
            options = {"max_tokens": 2, "stop": [f"stop {number}"], "logit_bias": {number % 200: -1.0}, "logprobs": 1}
            llama.create_completion(f"Prompt {number}", **options)
            for chunk in llama.create_completion(f"Prompt {number}", stream=True, **options):
                break
            next(llama.generate(llama.tokenize(b"abc")))
    def held():
        gc.collect()
        with open("/proc/self/statm") as statm:
            return len(gc.get_objects()), int(statm.read().split()[1]) * page
    calls(150)  # caches of a fixed size are full then
    objects, resident = held()
    calls(150)
    more, larger = held()
    print(json.dumps({"objects": more - objects, "bytes": larger - resident}))
    llama.close()
"""


@pytest.mark.once_per_wheel
@pytest.mark.skipif(not installation.is_linux(), reason="resident memory is read from /proc")
def test_nothing_grows_from_call_to_call() -> None:
    grown = child.run(GROWTH, material.model(material.SYNTH_LLAMA)).json()
    assert grown["objects"] < 120, "fewer than one object per call"
    assert grown["bytes"] < 2 * 2**20


def test_many_threads_on_two_objects(synthetic: Llama) -> None:
    """Whole, streamed, left half-way and aborted requests, mixed: each that is not aborted is as if it ran alone."""
    prompts = [f"{PROMPT} {number}" for number in range(4)]
    due = [text(synthetic.create_completion(prompt, max_tokens=12, **GREEDY)) for prompt in prompts]
    found: list[tuple[int, str, str]] = []
    with Llama(str(material.model(material.SYNTH_LLAMA)), n_ctx=512, n_batch=256, n_threads=1, verbose=False) as other:

        def work(index: int) -> None:
            for turn in range(6):
                llama = (synthetic, other)[(index + turn) % 2]
                answer = llama.create_completion(prompts[index], max_tokens=12, stream=bool(turn % 2), **GREEDY)
                if turn == 3:
                    next(answer)
                    answer.close()
                else:
                    found.append((index, *(joined(answer) if turn % 2 else (text(answer), finish_reason(answer)))))
                if turn == 4:
                    llama.abort()

        threads = [threading.Thread(target=work, args=(index,)) for index in range(len(prompts))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        assert not any(thread.is_alive() for thread in threads)
    assert len(found) == 5 * len(prompts)
    for index, produced, reason in found:
        assert produced == due[index] if reason != "abort" else due[index].startswith(produced)
