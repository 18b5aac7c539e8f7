"""Completions as chats, for programs that convert them themselves."""

from __future__ import annotations

from typing import Any

import pytest

from llama_cpp import llama_chat_format
from llama_cpp._features.chat import openai_models

WHOLE: dict[str, Any] = {
    "id": "cmpl-1",
    "object": "text_completion",
    "created": 7,
    "model": "m",
    "choices": [{"text": '{"a": 1}', "index": 0, "logprobs": None, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
}


def chunk(text: str, finish_reason: str | None = None) -> dict[str, Any]:
    return {**WHOLE, "choices": [{"text": text, "index": 0, "logprobs": None, "finish_reason": finish_reason}]}


CHUNKS = [chunk('{"a"'), chunk(": 1}"), chunk("", "stop")]


def test_a_whole_completion() -> None:
    chat = llama_chat_format._convert_completion_to_chat(WHOLE, stream=False)
    assert (chat["id"], chat["object"], chat["usage"]) == ("chatcmpl-1", "chat.completion", WHOLE["usage"])
    assert chat["choices"][0]["message"] == {"role": "assistant", "content": '{"a": 1}'}
    assert chat["choices"][0]["finish_reason"] == "stop"


def test_the_chunks_of_a_completion() -> None:
    chunks = list(llama_chat_format._convert_completion_to_chat(iter(CHUNKS), stream=True))
    assert [each["choices"][0]["delta"] for each in chunks] == [{"role": "assistant"}, {"content": '{"a"'}, {"content": ": 1}"}, {}]
    assert [each["choices"][0]["finish_reason"] for each in chunks] == [None, None, None, "stop"]


def test_a_completion_as_a_call() -> None:
    chat = llama_chat_format._convert_completion_to_chat_function("f", WHOLE, False)
    choice = chat["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["tool_calls"][0]["function"] == choice["message"]["function_call"] == {"name": "f", "arguments": '{"a": 1}'}
    chunks = list(llama_chat_format._convert_completion_to_chat_function("f", iter(CHUNKS), True))
    calls = [each["choices"][0]["delta"]["tool_calls"][0]["function"] for each in chunks[1:-1]]
    assert [call["name"] for call in calls] == ["f", None]
    assert "".join(call["arguments"] for call in calls) == '{"a": 1}'
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_log_probabilities() -> None:
    logprobs = {"tokens": ["ü", "a"], "token_logprobs": [None, -1.5], "top_logprobs": [None, {"a": -1.5, "b": -2.0}], "text_offset": [0, 1]}
    shown = llama_chat_format._convert_text_completion_logprobs_to_chat(logprobs)  # type: ignore[arg-type]
    assert shown is not None
    assert shown["content"] is not None
    first, second = shown["content"]
    assert (first["bytes"], first["logprob"], first["top_logprobs"]) == ([195, 188], 0.0, [])
    assert [each["token"] for each in second["top_logprobs"]] == ["a", "b"]
    assert llama_chat_format._convert_text_completion_logprobs_to_chat(None) is None


def test_grammars() -> None:
    assert "root" in llama_chat_format._grammar_for_json().grammar
    assert llama_chat_format._grammar_for_response_format({"type": "text"}) is None
    asked = llama_chat_format._grammar_for_response_format({"type": "json_object", "schema": {"type": "boolean"}})
    assert asked == llama_chat_format._grammar_for_json_schema('{"type": "boolean"}')
    with pytest.raises(ValueError, match="nonsense"):
        llama_chat_format._grammar_for_json_schema({"type": "nonsense"})


def test_without_the_openai_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openai.types.chat", None)
    with pytest.raises(ImportError, match="pip install openai"):
        openai_models.converted(dict)
