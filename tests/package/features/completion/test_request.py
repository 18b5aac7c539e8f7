"""The arguments of a completion: what is accepted, what is refused, and that the caller's objects stay untouched."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from llama_cpp._features.completion.request import CompletionRequest
from llama_cpp._features.grammar.definition import LlamaGrammar
from llama_cpp._features.llama.llama import Llama
from llama_cpp._features.sampling.arguments import REMOVED


def arguments(**changes: Any) -> dict[str, Any]:
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(Llama.create_completion).parameters.items()
        if parameter.default is not inspect.Parameter.empty
    }
    assert not set(changes) - {"prompt", *defaults}
    return {"prompt": "text", **defaults, **changes}


def request(**changes: Any) -> CompletionRequest:
    return CompletionRequest.from_arguments(arguments(**changes))


def test_defaults() -> None:
    made = request()
    assert (made.prompt, made.max_tokens, made.stops, made.echo, made.model) == ("text", 16, (), False, None)
    assert (made.sampling.temperature, made.sampling.top_k, made.sampling.penalizes) == (0.8, 40, False)


@pytest.mark.parametrize(("given", "limit"), [(None, None), (-1, None), (-5, None), (0, 0), (7, 7)])
def test_max_tokens(given: int | None, limit: int | None) -> None:
    assert request(max_tokens=given).max_tokens == limit


@pytest.mark.parametrize("wrong", ["5", 1.5, True])
def test_max_tokens_of_the_wrong_kind(wrong: Any) -> None:
    with pytest.raises(TypeError, match="max_tokens"):
        request(max_tokens=wrong)


@pytest.mark.parametrize(("given", "stops"), [(None, ()), ([], ()), ("x", ("x",)), (["x", ""], ("x", "")), (("a",), ("a",))])
def test_stop(given: Any, stops: tuple[str, ...]) -> None:
    assert request(stop=given).stops == stops


def test_stop_of_the_wrong_kind() -> None:
    with pytest.raises(TypeError, match="stop"):
        request(stop=[1])


def test_lists_are_copied() -> None:
    prompt, stop = [1, 2], ["a"]
    made = request(prompt=prompt, stop=stop)
    prompt.append(3)
    stop.append("b")
    assert (made.prompt, made.stops) == ((1, 2), ("a",))


@pytest.mark.parametrize("wrong", [b"bytes", None, 5, ["a", "b"], [1.5]])
def test_a_prompt_of_the_wrong_kind(wrong: Any) -> None:
    with pytest.raises(TypeError, match="prompt"):
        request(prompt=wrong)


def test_a_grammar_is_one_or_its_text() -> None:
    made = LlamaGrammar.from_string('root ::= "a"', triggers=["x"])
    assert request(grammar=made, grammar_lazy=True).grammar is made
    assert request(grammar='root ::= "a"').grammar == LlamaGrammar('root ::= "a"')
    assert request().grammar is None


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"grammar": 5}, TypeError),
        ({"grammar_lazy": True}, ValueError),
        ({"grammar": 'root ::= "a"', "grammar_lazy": True}, ValueError),
        ({"grammar": " "}, ValueError),
    ],
)
def test_grammars_that_cannot_be_used(changes: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="grammar"):
        request(**changes)


@pytest.mark.parametrize(("name", "empty"), [("logit_bias", {}), ("logits_processor", []), ("stopping_criteria", ())])
def test_empty_collections_ask_for_nothing(name: str, empty: Any) -> None:
    request(**{name: empty})


@pytest.mark.parametrize(("name", "value"), [("tfs_z", 0.9)])
def test_what_has_no_effect_any_more_warns(name: str, value: Any) -> None:
    assert name in REMOVED
    with pytest.warns(UserWarning, match=name):
        request(**{name: value})


def test_both_spellings_of_the_presence_penalty() -> None:
    assert request(present_penalty=0.5).sampling.presence_penalty == 0.5
    assert request(presence_penalty=0.5).sampling.presence_penalty == 0.5
    assert request(present_penalty=0.5, presence_penalty=0.5).sampling.presence_penalty == 0.5
    with pytest.raises(ValueError, match="presence_penalty"):
        request(present_penalty=0.5, presence_penalty=0.6)


@pytest.mark.parametrize(("given", "seed"), [(None, None), (-1, None), (0xFFFFFFFF, None), (0, 0), (42, 42), (1 << 32, 0)])
def test_seeds(given: int | None, seed: int | None) -> None:
    assert request(seed=given).sampling.seed == seed


@pytest.mark.parametrize(("given", "count"), [(None, None), (False, None), (0, 0), (3, 3), (True, 1)])
def test_logprobs(given: Any, count: int | None) -> None:
    assert request(logprobs=given).logprobs == count


@pytest.mark.parametrize(("wrong", "error"), [(-1, ValueError), ("2", TypeError), (1.5, TypeError)])
def test_logprobs_that_make_no_sense(wrong: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="logprobs"):
        request(logprobs=wrong)


def test_callbacks_are_one_or_a_list() -> None:
    def one(ids: Any, scores: Any) -> Any: ...

    assert request(logits_processor=one, stopping_criteria=[one, one]).participants.processors == (one,)
    assert request(logits_processor=one, stopping_criteria=[one, one]).participants.criteria == (one, one)
    for name in ("logits_processor", "stopping_criteria"):
        with pytest.raises(TypeError, match=name):
            request(**{name: [one, 5]})


@pytest.mark.parametrize("biases", [{5: -1.5, 7: 2}, {"5": -1.5, "7": "2"}])
def test_logit_bias_has_numbers_or_their_digits(biases: Any) -> None:
    assert request(logit_bias=biases).sampling.logit_bias == ((5, -1.5), (7, 2.0))


@pytest.mark.parametrize("biases", [[1, 2], {"a": 1}, {1: "x"}, {1: float("nan")}, {1: float("inf")}])
def test_a_logit_bias_that_makes_no_sense(biases: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="logit_bias"):
        request(logit_bias=biases)


def test_recommendations_replace_what_was_left_alone_and_nothing_else() -> None:
    recommended = {"temperature": 0.3, "top_k": 7, "order": ("top_k", "temperature")}
    left = CompletionRequest.from_arguments(arguments(), recommended=recommended).sampling
    assert (left.temperature, left.top_k, left.top_p, left.order) == (0.3, 7, 0.95, ("top_k", "temperature"))
    stated = CompletionRequest.from_arguments(arguments(temperature=0.8, top_k=40), recommended=recommended).sampling
    assert (stated.temperature, stated.top_k) == (0.8, 40)
