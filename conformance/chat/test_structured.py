"""Structured answers: what `response_format` asks for is what comes, the same streamed or not; what cannot be held is refused."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from rig import material

from llama_cpp import Llama
from llama_cpp.llama_chat_format import Jinja2ChatFormatter

if TYPE_CHECKING:
    from collections.abc import Iterator

PERSON: dict[str, Any] = {
    "title": "Person",
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[A-Z][a-z]{1,9}$"},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "tags": {"type": "array", "items": {"enum": ["kind", "tall", "łagodny"]}, "maxItems": 2},
        "friend": {"anyOf": [{"$ref": "#/$defs/friend"}, {"type": "null"}]},
    },
    "required": ["name", "age", "friend"],
    "$defs": {"friend": {"type": "object", "properties": {"name": {"const": "Ada"}}, "required": ["name"]}},
}
MESSAGES: list[Any] = [{"role": "user", "content": "Describe Ada, who is 36, as JSON."}]
FORMS: dict[str, Any] = {
    "openai": {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON, "strict": True}},
    "openai, not strict": {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON}},
    "bare": {"type": "json_schema", "json_schema": PERSON},
    "json_object": {"type": "json_object", "schema": PERSON},
}


class PersonModel:
    """What a pydantic model is to a response format."""

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        return PERSON


@pytest.fixture(scope="module")
def talker() -> Iterator[Llama]:
    """The synthetic model, whose tokens are short, with room for answers."""
    with closing(Llama(str(material.model(material.SYNTH_LLAMA)), n_ctx=2048, n_threads=1, n_threads_batch=1, verbose=False)) as model:
        yield model


def content(response: Any) -> str:
    (choice,) = response["choices"]
    assert choice["finish_reason"] == "stop"
    return str(choice["message"]["content"])


@pytest.mark.once_per_wheel
def test_a_real_model_answers_by_the_schema(smollm2: Llama) -> None:
    for sampling in ({"temperature": 0.0}, {"temperature": 1.0, "seed": 1}):
        answer = content(smollm2.create_chat_completion(MESSAGES, response_format=FORMS["openai"], **sampling))
        jsonschema.validate(json.loads(answer), PERSON)


def test_each_shape_of_the_request_holds(talker: Llama) -> None:
    for seed, form in enumerate(FORMS.values()):
        answer = content(talker.create_chat_completion(MESSAGES, response_format=form, temperature=1.0, seed=seed))
        jsonschema.validate(json.loads(answer), PERSON)


def test_a_class_with_a_schema_is_a_response_format(talker: Llama) -> None:
    jsonschema.validate(json.loads(content(talker.create_chat_completion(MESSAGES, response_format=PersonModel, seed=3))), PERSON)


def test_streams_are_the_same(talker: Llama) -> None:
    request: dict[str, Any] = {"response_format": FORMS["openai"], "temperature": 1.0, "seed": 7}
    whole = content(talker.create_chat_completion(MESSAGES, **request))
    chunks = list(talker.create_chat_completion(MESSAGES, stream=True, **request))
    assert "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks) == whole
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"


def test_any_object(talker: Llama) -> None:
    answer = talker.create_chat_completion(MESSAGES, response_format={"type": "json_object"}, seed=1, max_tokens=60)["choices"][0]
    assert answer["message"]["content"].startswith("{")


def test_text_is_any_text(talker: Llama) -> None:
    request: dict[str, Any] = {"max_tokens": 8, "temperature": 0.0}
    plain = talker.create_chat_completion(MESSAGES, **request)["choices"]
    assert talker.create_chat_completion(MESSAGES, response_format={"type": "text"}, **request)["choices"] == plain


def thinking(llama: Llama, *, prompt_thinks: bool, **request: Any) -> Any:
    """An answer of a model whose template knows thoughts, and may begin them."""
    template = "{% for message in messages %}{{ message.content }}\n{% endfor %}" + ("<think>" if prompt_thinks else "{# <think> #}")
    handler = Jinja2ChatFormatter(template, eos_token="", bos_token="").to_chat_handler()
    return handler(llama=llama, messages=MESSAGES, **request)


@pytest.mark.parametrize(("prompt_thinks", "budget"), [(True, 0), (True, 5), (False, 5)])
def test_thoughts_come_before_the_answer_and_are_apart(talker: Llama, prompt_thinks: bool, budget: int) -> None:
    request: dict[str, Any] = {"response_format": FORMS["openai"], "reasoning_budget": budget, "temperature": 1.0, "seed": 2}
    if not prompt_thinks:
        # Behind a line feed no vocabulary puts a space before a character.
        request["logits_processor"] = Opening([talker.tokenize(b"\n" + bytes([byte]), add_bos=False)[-1] for byte in b"<think>"])
    (choice,) = thinking(talker, prompt_thinks=prompt_thinks, **request)["choices"]
    jsonschema.validate(json.loads(choice["message"]["content"]), PERSON)
    assert bool(choice["message"].get("reasoning_content")) == bool(budget)
    assert choice["finish_reason"] == "stop"


class Opening:
    """Makes an answer begin with these tokens."""

    def __init__(self, tokens: list[int]) -> None:
        self._tokens = tokens
        self._start: int | None = None

    def __call__(self, tokens: Any, logits: Any) -> Any:
        self._start = len(tokens) if self._start is None else self._start
        place = len(tokens) - self._start
        if place < len(self._tokens):
            logits[:] = -1e9
            logits[self._tokens[place]] = 0.0
        return logits


REFUSED: list[tuple[Any, str]] = [
    ({"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "string", "pattern": "(a)\\1"}}}, "pattern"),
    ({"type": "json_object", "schema": {"$ref": "https://example.org/schema.json"}}, "ref"),
    ({"type": "json_schema"}, "json_schema"),
    ({"type": "yaml"}, "yaml"),
    ({"type": "json_object", "schema": "{"}, "JSON"),
    ("json", "response_format"),
]


def test_what_cannot_be_held_is_refused_by_name(talker: Llama) -> None:
    for form, named in REFUSED:
        with pytest.raises(ValueError, match=named):
            talker.create_chat_completion(MESSAGES, response_format=form)
