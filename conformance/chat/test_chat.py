"""Chat completions of real and synthetic models: shapes, streams, limits, BOS, formats and handlers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ConfigDict, TypeAdapter
from rig import material

import llama_cpp
from llama_cpp import Llama
from llama_cpp.llama_chat_format import (
    ChatFormatterResponse,
    ChatTemplateError,
    Jinja2ChatFormatter,
    LlamaChatCompletionHandlerNotFoundException,
    LlamaChatCompletionHandlerRegistry,
    chat_formatter_to_chat_completion_handler,
    register_chat_format,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

MESSAGES: list[Any] = [{"role": "system", "content": "Answer briefly."}, {"role": "user", "content": "Count from one to five."}]
GREEDY: dict[str, Any] = {"temperature": 0.0, "max_tokens": 16}


def adapter(name: str) -> TypeAdapter[Any]:
    kind = getattr(llama_cpp, name)
    kind.__pydantic_config__ = ConfigDict(extra="forbid")
    return TypeAdapter(kind)


def content(answer: Any) -> str:
    return str(answer["choices"][0]["message"]["content"])


def streamed(chunks: Any) -> tuple[str, str]:
    deltas = [chunk["choices"][0] for chunk in chunks]
    assert deltas[0]["delta"] == {"role": "assistant"}
    assert {each["finish_reason"] for each in deltas[:-1]} == {None}
    return "".join(each["delta"].get("content") or "" for each in deltas), deltas[-1]["finish_reason"]


class TestShapes:
    def test_a_response(self, text_model: Llama) -> None:
        answer = text_model.create_chat_completion(MESSAGES, logprobs=True, top_logprobs=2, **GREEDY)
        adapter("CreateChatCompletionResponse").validate_python(answer, strict=True)
        assert answer["id"].startswith("chatcmpl-")
        assert answer["model"] == text_model.model_path
        usage = answer["usage"]
        assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
        entries = answer["choices"][0]["logprobs"]["content"]
        assert len(entries) == usage["completion_tokens"]
        assert all(len(entry["top_logprobs"]) == 2 for entry in entries)
        assert b"".join(bytes(entry["bytes"]) for entry in entries).decode("utf-8", "replace").startswith(content(answer))
        assert all(entry["logprob"] <= 0 for entry in entries)

    def test_a_stream(self, text_model: Llama) -> None:
        whole = text_model.create_chat_completion(MESSAGES, **GREEDY)
        chunks = list(text_model.create_chat_completion(MESSAGES, stream=True, logprobs=True, **GREEDY))
        chunk_type = adapter("CreateChatCompletionStreamResponse")
        for chunk in chunks:
            chunk_type.validate_python(chunk, strict=True)
        assert len({(chunk["id"], chunk["created"], chunk["model"]) for chunk in chunks}) == 1
        assert streamed(chunks) == (content(whole), whole["choices"][0]["finish_reason"])
        logprobs = [entry for chunk in chunks for entry in (chunk["choices"][0]["logprobs"] or {}).get("content", ())]
        assert len(logprobs) == whole["usage"]["completion_tokens"]

    def test_usage_at_the_end_of_a_stream(self, synthetic: Llama) -> None:
        chunks = list(synthetic.create_chat_completion(MESSAGES, stream=True, stream_options={"include_usage": True}, **GREEDY))
        whole = synthetic.create_chat_completion(MESSAGES, **GREEDY)
        assert chunks[-1]["choices"] == []
        assert chunks[-1]["usage"] == whole["usage"]


class TestPrompts:
    def test_it_is_the_template_with_one_bos(self, text_model: Llama) -> None:
        """The context holds what the template wrote, and no token of BOS but the one at its beginning."""
        text_model.create_chat_completion(MESSAGES, max_tokens=1)
        tokens = text_model.input_ids[: text_model.n_tokens].tolist()
        text = text_model.detokenize(tokens, special=True).decode()
        assert "system\nAnswer briefly." in text
        assert "user\nCount from one to five." in text
        assert text.rstrip().endswith("assistant")
        begins = [index for index, token in enumerate(tokens) if token == text_model.token_bos()]
        turn = text_model.tokenize(b"<|im_start|>", add_bos=False, special=True)
        assert begins[:1] == [0]
        assert len(begins) == (1 if turn != [text_model.token_bos()] else 3)

    def test_parts_are_their_text(self, text_model: Llama) -> None:
        listed = [
            {**message, "content": [{"type": "text", "text": text} for text in message["content"].partition(" ")]} for message in MESSAGES
        ]
        assert content(text_model.create_chat_completion(listed, **GREEDY)) == content(
            text_model.create_chat_completion(MESSAGES, **GREEDY)
        )

    def test_a_prefilled_beginning_goes_on(self, synthetic: Llama) -> None:
        begun = [*MESSAGES, {"role": "assistant", "content": "One, two"}]
        plain = synthetic.create_chat_completion(MESSAGES, max_tokens=1)
        held = synthetic.tokenize(b"One, two", add_bos=False)
        answer = synthetic.create_chat_completion(begun, assistant_prefill=True, **GREEDY)
        assert 0 < answer["usage"]["prompt_tokens"] - plain["usage"]["prompt_tokens"] <= len(held)
        assert answer == {
            **synthetic.create_chat_completion(begun, assistant_prefill=True, **GREEDY),
            "id": answer["id"],
            "created": answer["created"],
        }
        finished = synthetic.create_chat_completion(begun, max_tokens=1)
        assert finished["usage"]["prompt_tokens"] > answer["usage"]["prompt_tokens"]

    def test_a_conversation_ahead_of_time(self, text_model: Llama) -> None:
        ahead = text_model.create_chat_prefill(MESSAGES)
        answer = text_model.create_chat_completion(MESSAGES, **GREEDY)
        assert ahead.n_tokens == answer["usage"]["prompt_tokens"]
        text_model.reset()
        assert content(text_model.create_chat_completion(MESSAGES, **GREEDY)) == content(answer)

    def test_the_next_turn_evaluates_what_is_new(self, synthetic: Llama) -> None:
        answer = synthetic.create_chat_completion(MESSAGES, **GREEDY)
        turns = [*MESSAGES, {"role": "assistant", "content": content(answer)}, {"role": "user", "content": "And on?"}]
        ahead = synthetic.create_chat_prefill(turns)
        assert ahead.n_evaluated < ahead.n_tokens - answer["usage"]["prompt_tokens"] // 2

    def test_a_conversation_that_does_not_fit(self, synthetic: Llama) -> None:
        with pytest.raises(ValueError, match=r"Requested tokens \(\d+\) exceed context window of 512"):
            synthetic.create_chat_completion([{"role": "user", "content": "word " * 600}], stream=True)


class TestArguments:
    def test_seeds_and_several_answers(self, synthetic: Llama) -> None:
        limits: dict[str, Any] = {"max_tokens": 12, "temperature": 1.5}
        first = synthetic.create_chat_completion(MESSAGES, seed=7, n=2, **limits)
        second = synthetic.create_chat_completion(MESSAGES, seed=8, **limits)
        texts = [choice["message"]["content"] for choice in first["choices"]]
        assert texts[1] == content(second)
        assert texts[0] != texts[1]
        assert texts == [
            each["message"]["content"] for each in synthetic.create_chat_completion(MESSAGES, seed=7, n=2, **limits)["choices"]
        ]

    def test_stops(self, smollm2: Llama) -> None:
        whole = content(smollm2.create_chat_completion(MESSAGES, **GREEDY))
        place = len(whole) // 2
        stop = whole[place : place + 3]
        cut = smollm2.create_chat_completion(MESSAGES, stop=stop, **GREEDY)
        assert (content(cut), cut["choices"][0]["finish_reason"]) == (whole[: whole.find(stop)], "stop")

    def test_at_least_so_many_tokens(self, synthetic: Llama) -> None:
        ends = synthetic.token_eos()
        ended = synthetic.create_chat_completion(MESSAGES, logit_bias={ends: 1000.0}, max_tokens=8)
        assert ended["usage"]["completion_tokens"] == 0
        held = synthetic.create_chat_completion(MESSAGES, logit_bias={ends: 1000.0}, max_tokens=8, min_tokens=5)
        assert held["usage"]["completion_tokens"] == 5

    def test_the_end_of_the_context(self, synthetic: Llama) -> None:
        answer = synthetic.create_chat_completion(MESSAGES, max_tokens=None, ignore_eos=True)
        assert answer["choices"][0]["finish_reason"] == "length"
        assert answer["usage"]["total_tokens"] == synthetic.n_ctx()

    def test_an_abandoned_stream_leaves_all_usable(self, synthetic: Llama) -> None:
        expected = content(synthetic.create_chat_completion(MESSAGES, **GREEDY))
        stream: Any = synthetic.create_chat_completion(MESSAGES, stream=True, **GREEDY)
        next(stream)
        next(stream)
        stream.close()
        assert content(synthetic.create_chat_completion(MESSAGES, **GREEDY)) == expected


class TestFormats:
    def test_the_file_says_which(self, text_model: Llama) -> None:
        assert text_model.chat_format == "chat_template.default"
        assert text_model.chat_handler is None

    @pytest.fixture
    def opened(self) -> Iterator[Any]:
        models: list[Llama] = []

        def open_model(**arguments: Any) -> Llama:
            path = str(material.model(material.SYNTH_LLAMA))
            models.append(Llama(path, n_ctx=256, n_threads=2, n_threads_batch=2, verbose=False, **arguments))
            return models[-1]

        yield open_model
        for model in models:
            model.close()

    def test_a_named_format(self, opened: Any) -> None:
        model = opened(chat_format="zephyr")
        model.create_chat_completion(MESSAGES, max_tokens=1)
        held = model.detokenize(model.input_ids[: model.n_tokens].tolist(), special=True).decode()
        assert "<|user|>\nCount from one to five." in held

    def test_names_that_are_not_there(self, opened: Any) -> None:
        with pytest.raises(LlamaChatCompletionHandlerNotFoundException, match="no chat format 'nonsense'"):
            opened(chat_format="nonsense").create_chat_completion(MESSAGES)
        with pytest.raises(ValueError, match="no chat template 'nonsense'; it has: default"):
            Llama(str(material.model(material.SYNTH_LLAMA)), chat_template_name="nonsense", verbose=False)

    def test_a_handler_of_a_program(self, opened: Any) -> None:
        calls: list[dict[str, Any]] = []

        def handler(*, llama: Llama, messages: list[Any], temperature: float, presence_penalty: float, **rest: Any) -> Any:
            calls.append({"temperature": temperature, "presence_penalty": presence_penalty, **rest})
            return llama.create_completion(messages[-1]["content"], max_tokens=2)

        model = opened(chat_handler=handler)
        answer = model.create_chat_completion(MESSAGES, temperature=0.5, present_penalty=0.25, chat_template_kwargs={"a": 1})
        assert answer["object"] == "text_completion"
        assert (calls[0]["temperature"], calls[0]["presence_penalty"], calls[0]["chat_template_kwargs"]) == (0.5, 0.25, {"a": 1})
        assert "documents" not in calls[0]

    def test_a_format_of_a_program(self, opened: Any) -> None:
        seen: list[Any] = []

        @register_chat_format("conformance-format")
        def formatter(messages: list[Any], **kwargs: Any) -> ChatFormatterResponse:
            seen.append(kwargs)
            return ChatFormatterResponse(prompt="Say: " + messages[-1]["content"], stop=["\n"])

        try:
            model = opened(chat_format="conformance-format", chat_template_kwargs={"style": "plain"})
            by_name = model.create_chat_completion(MESSAGES, **GREEDY)
            assert seen[0]["style"] == "plain"
            handler: Any = chat_formatter_to_chat_completion_handler(formatter)
            assert content(handler(llama=model, messages=MESSAGES, **GREEDY)) == content(by_name)
            plain = model.create_completion("Say: " + MESSAGES[-1]["content"], stop=["\n"], **GREEDY)
            assert plain["choices"][0]["text"] == content(by_name)
        finally:
            LlamaChatCompletionHandlerRegistry().unregister_chat_handler("conformance-format")


def test_a_template_that_refuses(synthetic: Llama) -> None:
    refusing = Jinja2ChatFormatter("{{ raise_exception('only in writing') }}", "", "").to_chat_handler()
    with pytest.raises(ChatTemplateError, match=r"^only in writing$"):
        refusing(llama=synthetic, messages=MESSAGES, stream=True)
    assert content(synthetic.create_chat_completion(MESSAGES, **GREEDY))
