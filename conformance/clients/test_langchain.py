"""langchain-community: completion, streaming, chat, structured output and embeddings."""

from __future__ import annotations

import math
from typing import Any

import pytest
from langchain_community.chat_models import ChatLlamaCpp
from langchain_community.embeddings import LlamaCppEmbeddings
from langchain_community.llms import LlamaCpp
from pydantic import BaseModel, Field


class City(BaseModel):
    """A city."""

    name: str = Field(max_length=20)
    people: int = Field(ge=0, le=100_000_000)


@pytest.fixture
def chat(model_path: str) -> Any:
    made = ChatLlamaCpp(model_path=model_path, n_ctx=1024, temperature=0.0, max_tokens=48, verbose=False)
    yield made
    made.client.close()


def test_completion(model_path: str) -> None:
    llm: Any = LlamaCpp(model_path=model_path, n_ctx=512, temperature=0.0, max_tokens=8, stop=["\n"], verbose=False)
    text = llm.invoke("1, 2, 3, 4, 5, 6, 7,")
    assert text.strip().startswith("8")
    assert "".join(llm.stream("1, 2, 3, 4, 5, 6, 7,")) == text
    assert llm.get_num_tokens("1, 2, 3") == len(llm.client.tokenize(b"1, 2, 3"))
    llm.client.close()


def test_a_grammar(model_path: str) -> None:
    llm: Any = LlamaCpp(model_path=model_path, n_ctx=512, max_tokens=4, verbose=False)
    llm.grammar = 'root ::= "yes" | "no"'
    assert llm.invoke("Is water wet?") in ("yes", "no")
    llm.client.close()


def test_chat(chat: Any) -> None:
    messages = [("system", "Answer in one short sentence."), ("human", "What is the capital of France?")]
    answer = chat.invoke(messages)
    assert answer.content
    assert answer.response_metadata["finish_reason"] in ("stop", "length")
    assert "".join(chunk.content for chunk in chat.stream(messages)) == answer.content


def test_tools(chat: Any) -> None:
    bound = chat.bind_tools([City], tool_choice={"type": "function", "function": {"name": "City"}})
    answer = bound.invoke("Tell me about Paris, with its 2 million people.")
    assert City.model_validate(answer.tool_calls[0]["args"])
    assert answer.tool_calls[0]["name"] == "City"


def test_structured_output(chat: Any) -> None:
    found = chat.with_structured_output(City).invoke("Tell me about Paris, with its 2 million people.")
    assert isinstance(found, City)


def test_embeddings(model_path: str) -> None:
    model: Any = LlamaCppEmbeddings(model_path=model_path, n_ctx=512, verbose=False)
    (tokens,) = {len(model.client.tokenize(text.encode())) for text in ("A cat sleeps.", "A dog barks.")}
    vectors = model.embed_documents(["A cat sleeps.", "A dog barks."])
    assert len(vectors) == 2 * tokens  # this model does not pool: a vector for each token
    assert {len(vector) for vector in vectors} == {model.client.n_embd()}
    assert all(math.isfinite(value) for vector in vectors for value in vector)
    model.client.close()
