"""Encoder-decoder models: the prompt is encoded, the answer decoded."""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import pytest
from rig import material
from rig.generation import GREEDY, joined, text

from llama_cpp import Llama

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def t5() -> Iterator[Llama]:
    with Llama(str(material.model(material.SYNTH_T5)), n_ctx=256, n_threads=2, verbose=False) as model:
        yield model


def tokens(model: Llama, prompt: str, count: int = 10) -> list[int]:
    with closing(model.generate(model.tokenize(prompt.encode()), temp=0.0)) as generated:
        return list(islice(generated, count))


@pytest.mark.every_processor
def test_the_answer_follows_from_the_prompt(t5: Llama) -> None:
    first = tokens(t5, "one two three")
    assert tokens(t5, "four five") != first
    assert tokens(t5, "one two three") == first


def test_usage_counts_what_the_encoder_saw(t5: Llama) -> None:
    usage = t5.create_completion("one two three", max_tokens=5, ignore_eos=True, **GREEDY)["usage"]
    seen = len(t5.tokenize(b"one two three"))
    assert usage == {"prompt_tokens": seen, "completion_tokens": 5, "total_tokens": seen + 5}


def test_a_stream_survives_another_request(t5: Llama) -> None:
    whole = t5.create_completion("one two three", max_tokens=10, **GREEDY)
    stream = t5.create_completion("one two three", max_tokens=10, stream=True, **GREEDY)
    first = next(stream)
    t5.create_completion("four five", max_tokens=10, **GREEDY)
    rest, _ = joined(stream)
    assert text(first) + rest == text(whole)


def test_an_input_that_the_encoder_cannot_take_at_once(t5: Llama) -> None:
    with pytest.raises(ValueError, match="encoder"):
        t5.create_completion("one " * 2000)
    with pytest.raises(ValueError, match="encode the input first"):
        t5.eval(t5.tokenize(b"one"))
    assert len(tokens(t5, "one")) == 10


@pytest.mark.every_processor
def test_it_embeds() -> None:
    with Llama(str(material.model(material.SYNTH_T5)), n_ctx=256, embeddings=True, n_threads=2, verbose=False) as model:
        together = model.embed(["one two", "three"])
        assert np.allclose(together[0], model.embed("one two"), atol=1e-3)
        assert np.shape(together[1]) == (len(model.tokenize(b"three")), model.n_embd_out())
