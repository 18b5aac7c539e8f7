"""The arguments of a chat completion, and callbacks that they make."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from llama_cpp._features.chat.arguments import ADDED, DEFAULTS, PUBLISHED, EndsForbidden, answers, logprob_count
from llama_cpp._features.llama.llama import Llama
from llama_cpp._features.sampling.defaults import given

PARAMETERS = inspect.signature(Llama.create_chat_completion).parameters


def test_the_table_of_defaults_is_the_signature() -> None:
    assert {name: each.default for name, each in PARAMETERS.items() if name not in ("self", "messages")} == dict(DEFAULTS)
    assert all(given(each.default) == given(DEFAULTS[name]) for name, each in PARAMETERS.items() if name in DEFAULTS)


def test_published_arguments_come_by_position_and_others_by_keyword() -> None:
    positional = [name for name, each in PARAMETERS.items() if each.kind is each.POSITIONAL_OR_KEYWORD]
    assert positional == ["self", "messages", *PUBLISHED]
    assert [name for name, each in PARAMETERS.items() if each.kind is each.KEYWORD_ONLY] == list(ADDED)


@pytest.mark.parametrize(
    ("logprobs", "top", "count"),
    [(None, None, None), (False, 5, None), (True, None, 0), (True, 3, 3), (4, None, 4), (1, 2, 2), (0, None, None)],
)
def test_how_many_log_probabilities(logprobs: object, top: object, count: int | None) -> None:
    assert logprob_count(logprobs, top) == count


def test_how_many_answers() -> None:
    assert (answers(None), answers(2)) == (1, 2)
    with pytest.raises(ValueError, match="n must be 1 or more"):
        answers(0)


def test_ends_are_forbidden_until_there_is_enough() -> None:
    processor = EndsForbidden(2, [1, 3])
    shown = [processor(np.arange(length, dtype=np.intc), np.zeros(4, np.float32)).tolist() for length in (5, 6, 7)]
    assert shown == [[0, -np.inf, 0, -np.inf], [0, -np.inf, 0, -np.inf], [0, 0, 0, 0]]
