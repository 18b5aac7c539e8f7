"""The grammar against `jsonschema`: what one accepts the other does, for schemas of the whole supported subset."""

from __future__ import annotations

import json
import random
from typing import Any

from hypothesis import assume, event, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from conformance.rig.schema_strategies import SCHEMAS, VALUES, spellings
from llama_cpp._features.errors import UnsupportedSchemaError
from llama_cpp._features.grammar.schema import json_schema_to_gbnf
from tests.package.features.grammar.recognizer import Sampler, matches, tree_of


def converted(schema: Any) -> str | None:
    """The grammar; None where no value satisfies the schema. What is refused for other reasons is not looked at."""
    try:
        return json_schema_to_gbnf(schema, open_objects=True)
    except UnsupportedSchemaError as error:
        if "no finite value" in str(error):
            return None
        event(f"refused: {error.keyword}")
        assume(condition=False)
        return None


@given(SCHEMAS, st.randoms(use_true_random=False))
def test_what_the_grammar_writes_validates(schema: Any, rng: random.Random) -> None:
    grammar = converted(schema)
    assume(grammar is not None)
    validator = Draft202012Validator(schema)
    sampler = Sampler(grammar, rng)
    for _ in range(4):
        text = sampler.text()
        assert validator.is_valid(json.loads(text)), (text, grammar)
        assert matches(tree_of(grammar), text)


@given(SCHEMAS, st.lists(VALUES, min_size=3, max_size=6), st.randoms(use_true_random=False))
def test_both_agree_on_any_value(schema: Any, values: list[Any], rng: random.Random) -> None:
    grammar = converted(schema)
    validator = Draft202012Validator(schema)
    if grammar is not None:
        sampler = Sampler(grammar, rng)
        values = [*values, *(mutated(plain(json.loads(sampler.text())), rng) for _ in range(3))]
    for value in values:
        valid = validator.is_valid(value)
        event(f"valid: {valid}")
        accepted = grammar is not None and any(matches(grammar, text) for text in spellings(value))
        assert accepted == valid, (value, grammar)


def plain(value: Any) -> Any:
    """With numbers that floats hold exactly and that are written without an exponent."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value if abs(value) < 1e6 and value * 8 == int(value * 8) else 5
    return value


def mutated(value: Any, rng: random.Random) -> Any:
    """Something near: a part of it removed, repeated, or replaced."""
    if isinstance(value, list) and value:
        at = rng.randrange(len(value))
        return rng.choice(
            [value[:at] + value[at + 1 :], [*value, value[at]], [*value[:at], mutated(value[at], rng), *value[at + 1 :]], value]
        )[:4]
    if isinstance(value, dict) and value:
        name = rng.choice(sorted(value))
        changed = dict(list(value.items())[:4])
        if rng.random() < 0.5 and name in changed:
            del changed[name]
        elif name in changed:
            changed[rng.choice([name, "a", "c"])] = mutated(changed[name], rng)
        return changed
    if isinstance(value, str):
        value = value[:6]
        return rng.choice([value, value[:-1], value + "a", value + "b", value[::-1]])
    if isinstance(value, int | float) and not isinstance(value, bool):
        return rng.choice([value, value + 1, value - 1, -value, value + 0.5, str(value)])
    return rng.choice([value, None, 0, "", [], {}])
