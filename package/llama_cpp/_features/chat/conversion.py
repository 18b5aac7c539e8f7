"""Completions turned into chat completions after the fact: for programs that complete a prompt of their own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from llama_cpp._features.grammar.definition import LlamaGrammar

from .response_format import response_constraint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from llama_cpp._features.types.chat_response import (
        ChatCompletionLogprobs,
        CreateChatCompletionResponse,
        CreateChatCompletionStreamResponse,
    )
    from llama_cpp._features.types.completion import CompletionLogprobs, CreateCompletionResponse

_ANY_OBJECT = {"type": "json_object"}


def convert_logprobs(logprobs: CompletionLogprobs | None) -> ChatCompletionLogprobs | None:
    """Log-probabilities of a completion in the shape of a chat. Bytes are those of a token's text."""
    if logprobs is None:
        return None
    rows = zip(logprobs["tokens"], logprobs["token_logprobs"], logprobs["top_logprobs"], strict=True)
    return {
        "content": [
            {
                "token": token,
                "logprob": 0.0 if logprob is None else logprob,
                "bytes": list(token.encode()),
                "top_logprobs": [{"token": text, "logprob": value, "bytes": list(text.encode())} for text, value in (top or {}).items()],
            }
            for token, logprob, top in rows
        ],
        "refusal": None,
    }


def convert_completion(completion: Any, stream: bool = False) -> Any:
    """A completion, or with `stream` the chunks of one, as a chat's."""
    return convert_completion_chunks(completion) if stream else _whole(completion)


def convert_completion_chunks(completion: Iterator[CreateCompletionResponse]) -> Iterator[CreateChatCompletionStreamResponse]:
    """The chunks of a completion as a chat's."""
    for index, chunk in enumerate(completion):
        if not index:
            yield _chunk(chunk, {"role": "assistant"})
        choice = chunk["choices"][0]
        delta = {"content": choice["text"]} if choice["text"] or choice["finish_reason"] is None else {}
        yield _chunk(chunk, delta, choice["finish_reason"], convert_logprobs(choice["logprobs"]))


def convert_completion_to_function(tool_name: str, completion: Any, stream: bool = False) -> Any:
    """A completion whose text is the arguments of `tool_name`, as a chat that calls it."""
    return _call_chunks(tool_name, completion) if stream else _call(tool_name, completion)


def grammar_for_json() -> LlamaGrammar:
    """Any JSON object."""
    grammar = response_constraint(_ANY_OBJECT)
    assert grammar is not None  # noqa: S101 - a JSON object is asked for
    return grammar


def grammar_for_json_schema(schema: Any, verbose: bool = True, fallback_to_json: bool = False) -> LlamaGrammar:
    """What a schema (its text or itself) accepts. What it cannot hold to is an error, whatever the older arguments say."""
    del verbose, fallback_to_json
    grammar = response_constraint({"type": "json_object", "schema": json.loads(schema) if isinstance(schema, str) else schema})
    assert grammar is not None  # noqa: S101 - a JSON object is asked for
    return grammar


def grammar_for_response_format(response_format: Any, verbose: bool = True) -> LlamaGrammar | None:
    """The grammar of a `response_format`; None for plain text."""
    del verbose
    return response_constraint(response_format)


def _base(completion: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return {"id": f"chat{completion['id']}", "object": kind, "created": completion["created"], "model": completion["model"]}


def _whole(completion: CreateCompletionResponse) -> CreateChatCompletionResponse:
    choices = [
        {
            "index": choice["index"],
            "message": {"role": "assistant", "content": choice["text"]},
            "logprobs": convert_logprobs(choice["logprobs"]),
            "finish_reason": choice["finish_reason"],
        }
        for choice in completion["choices"]
    ]
    return {**_base(completion, "chat.completion"), "choices": choices, "usage": completion["usage"]}  # type: ignore[typeddict-item]


def _chunk(
    chunk: CreateCompletionResponse, delta: Any, finish_reason: Any = None, logprobs: Any = None
) -> CreateChatCompletionStreamResponse:
    choice = {"index": chunk["choices"][0]["index"], "delta": delta, "logprobs": logprobs, "finish_reason": finish_reason}
    return {**_base(chunk, "chat.completion.chunk"), "choices": [choice]}  # type: ignore[typeddict-item]


def _call(tool_name: str, completion: CreateCompletionResponse) -> CreateChatCompletionResponse:
    choice = completion["choices"][0]
    function = {"name": tool_name, "arguments": choice["text"]}
    call = {"id": _call_id(tool_name, completion), "type": "function", "function": function}
    shaped = {
        "index": 0,
        "message": {"role": "assistant", "content": None, "function_call": {**function}, "tool_calls": [call]},
        "logprobs": convert_logprobs(choice["logprobs"]),
        "finish_reason": _reason(choice["finish_reason"]),
    }
    return {**_base(completion, "chat.completion"), "choices": [shaped], "usage": completion["usage"]}  # type: ignore[typeddict-item]


def _call_chunks(tool_name: str, completion: Iterator[CreateCompletionResponse]) -> Iterator[CreateChatCompletionStreamResponse]:
    for index, chunk in enumerate(completion):
        if not index:
            yield _chunk(chunk, {"role": "assistant", "content": None})
        choice = chunk["choices"][0]
        if choice["finish_reason"] is not None and not choice["text"]:
            yield _chunk(chunk, {}, _reason(choice["finish_reason"]))
            continue
        function = {"name": None if index else tool_name, "arguments": choice["text"]}
        call = {"index": 0, "type": "function", "function": function, **({} if index else {"id": _call_id(tool_name, chunk)})}
        yield _chunk(chunk, {"tool_calls": [call]}, None, convert_logprobs(choice["logprobs"]))


def _call_id(tool_name: str, completion: Mapping[str, Any]) -> str:
    return f"call_0_{tool_name}_{completion['id']}"


def _reason(finish_reason: str | None) -> str | None:
    return "tool_calls" if finish_reason == "stop" else finish_reason
