"""Chat completions from messages to chunks, over a fake context and scripted tokens: no model."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_cpp._features.chat.formatter import ChatFormatterResponse
from llama_cpp._features.chat.handler import FormattedChatHandler
from llama_cpp._features.chat.output.description import ReasoningMarks
from llama_cpp._features.chat.output.formats import GENERIC, format_named
from llama_cpp._features.chat.template_environment import ChatTemplateError
from llama_cpp._features.completion import run as run_module
from tests.package.features.fakes import END, FakeChain, fake_runtime

USER = {"role": "user", "content": "Hi"}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}
]
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Bern"}}\n</tool_call>'
PROMPTS: list[dict[str, Any]] = []


def formatter(**kwargs: Any) -> ChatFormatterResponse:
    PROMPTS.append(kwargs)
    return ChatFormatterResponse(prompt="prompt<think>" if kwargs.get("enable_thinking") else "prompt", stop="STOP")


formatter.shows_tools = True  # type: ignore[attr-defined]
HANDLER = FormattedChatHandler(formatter, output=GENERIC)


def model(*pieces: bytes, **options: Any) -> Any:
    """A `Llama` whose model writes these pieces, and then ends."""
    runtime = fake_runtime(dict(enumerate(pieces)), **options)
    runtime.marked_pieces = {}
    vocab = runtime.vocab
    vocab.bos, vocab.add_bos, vocab.eog_tokens = 95, True, (END,)
    vocab.check_all, vocab.is_eog, vocab.is_control = list, lambda token: token == END, lambda _: False
    vocab.piece = lambda token, **_: pieces[token]
    tokenizer = SimpleNamespace(tokenize=lambda *_, **__: [1, 2, 3])
    made = SimpleNamespace(_runtime=runtime, _vocab=vocab, _recommended={}, tokenizer_=tokenizer, model_path="some-model")
    made.script = [*range(len(pieces)), END]
    return made


def run(llama: Any, handler: FormattedChatHandler = HANDLER, **arguments: Any) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_module, "build_chain", lambda *_, **__: Constrainable(llama._runtime.context, llama.script))
        answer = handler(llama=llama, messages=arguments.pop("messages", [USER]), **arguments)
        return list(answer) if arguments.get("stream") else answer


class Constrainable(FakeChain):
    def add_grammar(self, *_: Any, **__: Any) -> None: ...
    def add_grammar_lazy(self, *_: Any, **__: Any) -> None: ...


def rebuilt(chunks: list[Any], index: int = 0) -> tuple[dict[str, Any], str]:
    """The message that the deltas of a stream build, and the reason of its end."""
    message: dict[str, Any] = {"content": None}
    reasons = []
    for chunk in chunks:
        for choice in chunk["choices"]:
            if choice["index"] != index:
                continue
            reasons.append(choice["finish_reason"])
            delta = choice["delta"]
            for field in ("role", "content", "reasoning_content"):
                if delta.get(field) is not None:
                    message[field] = (message.get(field) or "") + delta[field]
            for call in delta.get("tool_calls", ()):
                calls = message.setdefault("tool_calls", [])
                if call["index"] == len(calls):
                    calls.append({"id": call["id"], "type": "function", "function": {"name": call["function"]["name"], "arguments": ""}})
                calls[call["index"]]["function"]["arguments"] += call["function"]["arguments"]
            if delta.get("function_call"):
                call = message.setdefault("function_call", {"name": "", "arguments": ""})
                call["name"] += delta["function_call"]["name"]
                call["arguments"] += delta["function_call"]["arguments"]
    assert set(reasons[:-1]) <= {None}
    return message, reasons[-1]


def comparable(message: dict[str, Any]) -> Any:
    shown = json.loads(json.dumps(message))
    for call in shown.get("tool_calls", ()):
        assert call.pop("id").startswith("call_")
    return {**shown, "content": shown.get("content") or ""}


def test_a_whole_answer() -> None:
    answer = run(model(b"Hel", b"lo"))
    assert answer["id"].startswith("chatcmpl-")
    assert (answer["object"], answer["model"]) == ("chat.completion", "some-model")
    (choice,) = answer["choices"]
    assert choice == {"index": 0, "message": {"role": "assistant", "content": "Hello"}, "logprobs": None, "finish_reason": "stop"}
    assert answer["usage"] == {"prompt_tokens": 4, "completion_tokens": 2, "total_tokens": 6}


def test_a_streamed_answer() -> None:
    chunks = run(model(b"Hel", b"lo"), stream=True, stream_options={"include_usage": True})
    assert [chunk["choices"][0]["delta"] for chunk in chunks[:-1]] == [{"role": "assistant"}, {"content": "Hel"}, {"content": "lo"}, {}]
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["completion_tokens"] == 2
    assert all("usage" not in chunk for chunk in chunks[:-1])


_WORDS = st.sampled_from(
    [CALL, "<think>", "</think>", "Hello ", "wörld", "STOP", "\n", '{"name": "weather", ', '"arguments": {}}', "<tool"]
)


@given(
    st.lists(_WORDS, max_size=6).map("".join),
    st.lists(st.integers(1, 9), min_size=1, max_size=8),
    st.sampled_from(["generic", "qwen3-coder", "gpt-oss"]),
    st.booleans(),
    st.one_of(st.none(), st.integers(1, 12)),
)
def test_a_stream_builds_the_whole_message(text: str, sizes: list[int], name: str, offers: bool, limit: int | None) -> None:
    """For every text, every way to cut it into tokens, every format, with and without tools, cut off or not."""
    data, pieces, place = text.encode(), [], 0
    while place < len(data):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(data[place : place + size])
        place += size
    pieces = [*pieces[:40], b"".join(pieces[40:])] if len(pieces) > 40 else pieces
    handler = FormattedChatHandler(formatter, output=format_named(name))
    arguments: dict[str, Any] = {"tools": TOOLS if offers else None, "max_tokens": limit}
    whole = run(model(*pieces), handler, **arguments)["choices"][0]
    streamed = run(model(*pieces), handler, stream=True, **arguments)
    message, reason = rebuilt(streamed)
    assert comparable(message) == comparable(whole["message"])
    assert reason == whole["finish_reason"]
    assert reason in ("length", "stop", "tool_calls")
    assert offers or "tool_calls" not in whole["message"]


def test_a_call() -> None:
    choice = run(model(*(CALL[place : place + 7].encode() for place in range(0, len(CALL), 7))), tools=TOOLS)["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    (call,) = choice["message"]["tool_calls"]
    assert call["function"] == {"name": "weather", "arguments": '{"city": "Bern"}'}


def test_a_call_that_is_cut_off_ends_with_length() -> None:
    pieces = [CALL[place : place + 7].encode() for place in range(0, len(CALL), 7)]
    choice = run(model(*pieces), tools=TOOLS, max_tokens=7)["choices"][0]
    assert choice["finish_reason"] == "length"
    assert choice["message"]["tool_calls"][0]["function"]["arguments"]


def test_the_older_form_of_a_call() -> None:
    functions = [TOOLS[0]["function"]]
    choice = run(model(CALL.encode()), functions=functions)["choices"][0]
    assert choice["finish_reason"] == "function_call"
    assert choice["message"] == {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "weather", "arguments": '{"city": "Bern"}'},
    }
    message, reason = rebuilt(run(model(CALL.encode()), functions=functions, stream=True))
    assert (message["function_call"], reason) == (choice["message"]["function_call"], "function_call")


def test_no_tools_for_the_choice_none() -> None:
    choice = run(model(CALL.encode()), tools=TOOLS, tool_choice="none")["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == (CALL, "stop")
    assert PROMPTS[-1]["tools"] is None


def test_stops_of_the_format_and_of_the_request() -> None:
    assert run(model(b"one ", b"STOP", b"two"))["choices"][0]["message"]["content"] == "one "
    assert run(model(b"one ", b"EN", b"D two"), stop="END")["choices"][0]["message"]["content"] == "one "


def test_several_answers() -> None:
    answer = run(model(b"x"), n=3, seed=5)
    assert [choice["index"] for choice in answer["choices"]] == [0, 1, 2]
    assert answer["usage"] == {"prompt_tokens": 4, "completion_tokens": 3, "total_tokens": 7}
    chunks = run(model(b"x"), n=2, stream=True)
    assert [rebuilt(chunks, index)[0]["content"] for index in (0, 1)] == ["x", "x"]


def test_a_prefilled_answer() -> None:
    seen = []
    llama = model(b" there")
    llama.tokenizer_.tokenize = lambda text, **_: seen.append(text) or [95, 1]
    answer = run(llama, messages=[USER, {"role": "assistant", "content": "Well"}], assistant_prefill=True)
    assert seen == [b"promptWell"]
    assert PROMPTS[-1]["messages"] == [USER]
    assert answer["choices"][0]["message"]["content"] == " there"
    assert answer["usage"]["prompt_tokens"] == 2


@pytest.mark.parametrize(
    ("written", "add_bos", "tokens"), [([1], True, [95, 1]), ([95, 1], True, [95, 1]), ([95, 95, 1], False, [95, 1]), ([1], False, [1])]
)
def test_exactly_one_bos(written: list[int], add_bos: bool, tokens: list[int]) -> None:
    llama = model(b"x")
    llama._vocab.add_bos = add_bos
    llama.tokenizer_.tokenize = lambda *_, **__: written
    run(llama)
    assert llama._runtime.live.tokens.tolist()[: len(tokens)] == tokens


def test_variables_of_the_constructor_and_of_the_call() -> None:
    llama = model(b"x")
    llama.chat_template_kwargs = {"a": 1, "b": 1}
    run(llama, chat_template_kwargs={"b": 2}, enable_thinking=False, documents=[{"text": "x"}], add_generation_prompt=False)
    seen = PROMPTS[-1]
    assert (seen["a"], seen["b"], seen["enable_thinking"], seen["documents"], seen["add_generation_prompt"]) == (
        1,
        2,
        False,
        [{"text": "x"}],
        False,
    )


def test_thinking_that_the_prompt_begins() -> None:
    output = replace(GENERIC, reasoning=ReasoningMarks(start="<think>", end="</think>"))
    message = run(model(b"hmm</th", b"ink>\nYes"), FormattedChatHandler(formatter, output=output), enable_thinking=True)["choices"][0][
        "message"
    ]
    assert message == {"role": "assistant", "reasoning_content": "hmm", "content": "Yes"}


def test_tools_in_plain_text_where_the_format_has_no_place_for_them() -> None:
    def plain(**kwargs: Any) -> ChatFormatterResponse:
        PROMPTS.append(kwargs)
        return ChatFormatterResponse(prompt="x")

    plain.shows_tools = False  # type: ignore[attr-defined]
    history = [
        USER,
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "weather", "arguments": '{"city": "Bern"}'}}]},
    ]
    run(model(b"x"), FormattedChatHandler(plain, output=GENERIC), messages=[*history, {"role": "tool", "content": "warm"}], tools=TOOLS)
    system, _, call, result = PROMPTS[-1]["messages"]
    assert '"name": "weather"' in system["content"]
    assert call["content"] == CALL
    assert result == {"role": "user", "content": "<tool_response>\nwarm\n</tool_response>"}
    assert PROMPTS[-1]["tools"] is None


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"nonsense": 1}, TypeError),
        ({"n": 0}, ValueError),
        ({"n": 1.5}, TypeError),
        ({"min_tokens": -1}, ValueError),
        ({"messages": "Hi"}, TypeError),
    ],
)
def test_arguments_that_make_no_sense(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        run(model(b"x"), **arguments)


def test_what_a_formatter_raises_goes_to_the_caller() -> None:
    def refuses(**_: Any) -> ChatFormatterResponse:
        raise ChatTemplateError("no")

    with pytest.raises(ChatTemplateError, match="no"):
        run(model(b"x"), FormattedChatHandler(refuses), stream=True)
