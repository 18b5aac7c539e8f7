"""The openai package's models, and instructor on top of them."""

from __future__ import annotations

from typing import Any

import instructor
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import BaseModel, Field

from llama_cpp import Llama

MESSAGES: list[Any] = [{"role": "user", "content": "Paris has 2 million people. What is the city's name?"}]


class City(BaseModel):
    """A city."""

    name: str = Field(max_length=20)


@pytest.fixture
def llm(model_path: str) -> Any:
    with Llama(model_path, n_ctx=1024, verbose=False) as made:
        yield made


def test_a_response(llm: Llama) -> None:
    answer = llm.create_chat_completion_openai_v1(MESSAGES, max_tokens=8, temperature=0.0, logprobs=True, top_logprobs=1)
    assert isinstance(answer, ChatCompletion)
    assert answer.usage is not None
    assert answer.choices[0].logprobs is not None
    assert len(answer.choices[0].logprobs.content) == answer.usage.completion_tokens
    chunks = list(llm.create_chat_completion_openai_v1(MESSAGES, max_tokens=8, temperature=0.0, stream=True))
    assert all(isinstance(chunk, ChatCompletionChunk) for chunk in chunks)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == answer.choices[0].message.content


def test_instructor(llm: Llama) -> None:
    for mode in (instructor.Mode.JSON_SCHEMA, instructor.Mode.TOOLS):
        create = instructor.patch(create=llm.create_chat_completion_openai_v1, mode=mode)
        found = create(messages=MESSAGES, response_model=City, max_tokens=64, temperature=0.0)
        assert isinstance(found, City)
        assert len(found.name) <= 20
