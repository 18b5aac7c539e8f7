"""The rows of the table, each a function from the arena to lines; a later capability adds its module and a row here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.arena import Arena
from benchmarks.line import Line
from benchmarks.rows import conversion, decode, embeddings, grammar, growth, imports, state, vocabulary


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row: `measure` takes the repetitions and makes the lines."""

    key: str
    title: str
    measure: Callable[[Arena], Sequence[Line]]


ROWS = (
    Row(key="greedy", title="decode, create_completion with all defaults, greedy", measure=decode.greedy),
    Row(key="chain", title="the same with the default sampling chain, plain and streamed", measure=decode.default_chain),
    Row(key="chat", title="the same as chat", measure=decode.chat),
    Row(key="vocabulary", title="decode with a vocabulary of 150k, default chain", measure=vocabulary.large),
    Row(key="processor", title="a logits processor that changes nothing, vocabulary of 150k", measure=vocabulary.processor),
    Row(key="logprobs", title="the five likeliest tokens' log-probabilities, vocabulary of 150k", measure=vocabulary.logprobs),
    Row(key="grammar", title="decode held to a JSON object by a grammar, beside decode without", measure=grammar.json_object),
    Row(key="grammar-vocabulary", title="the same with a vocabulary of 150k and a model that knows no JSON", measure=grammar.unwilling),
    Row(key="embeddings", title="embeddings of 64 short texts", measure=embeddings.short_texts),
    Row(key="growth", title="Python's share per token, 250 and 4,000 tokens, synthetic model", measure=growth.synthetic),
    Row(key="growth-text", title="the same on the text model", measure=growth.text_model),
    Row(key="schema", title="JSON Schema to grammar: 20, 100, 200 optional properties", measure=conversion.optional_properties),
    Row(key="state", title="saving a snapshot: speed and size", measure=state.saving),
    Row(key="reuse", title="tokens that a growing conversation evaluates", measure=state.reuse),
    Row(key="import", title="import llama_cpp beside import numpy", measure=imports.cold),
)
