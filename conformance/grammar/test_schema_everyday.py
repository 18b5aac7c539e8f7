"""Schemas of the kind that people use: each converts, loads in llama.cpp, and what models write under it validates."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator, Draft202012Validator
from rig import material, native_grammar

from llama_cpp import Llama, LlamaGrammar
from llama_cpp.llama_grammar import json_schema_to_gbnf

SCHEMAS: dict[str, Any] = {
    each["name"]: each["schema"] for each in json.loads(Path(__file__).with_name("everyday_schemas.json").read_text(encoding="utf-8"))
}
NIGHTLY = os.environ.get("LLAMA_TEST_PROFILE") == "nightly"
GENERATED = list(SCHEMAS) if NIGHTLY else ["person", "sentiment", "shape-union", "unicode-keys", "flight", "result-or-error"]
PATIENCE = 600
FINISHED = 0.8
"""Of the texts; recursive schemas and long strings let a small model go on beyond its patience."""


def validator(schema: dict[str, Any]) -> Draft202012Validator | Draft7Validator:
    kind = Draft7Validator if "draft-07" in schema.get("$schema", "") else Draft202012Validator
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def test_there_are_as_many_as_promised() -> None:
    assert len(SCHEMAS) >= 100


def test_each_loads(synthetic: Llama) -> None:
    for name, schema in SCHEMAS.items():
        grammar = json_schema_to_gbnf(schema)
        assert grammar == json_schema_to_gbnf(json.dumps(schema)), name
        assert native_grammar.parses(synthetic, grammar), name


def written(model: Llama, name: str, temperature: float, seed: int) -> tuple[str, str]:
    grammar = LlamaGrammar.from_json_schema(SCHEMAS[name])
    prompt = f"JSON for {name.replace('-', ' ')}:\n"
    answer = model.create_completion(prompt, max_tokens=PATIENCE, temperature=temperature, seed=seed, grammar=grammar, repeat_penalty=1.1)
    choice = answer["choices"][0]
    return choice["text"], choice["finish_reason"]


@pytest.mark.once_per_wheel
def test_what_a_model_writes_validates() -> None:
    with Llama(str(material.model(material.TRANSFORMER)), n_ctx=1024, n_threads=2, verbose=False) as model:
        finished = 0
        for name in GENERATED:
            for temperature in (0.0, 1.0):
                text, reason = written(model, name, temperature, seed=7)
                if reason == "stop":
                    finished += 1
                    validator(SCHEMAS[name]).validate(json.loads(text))
    assert finished >= FINISHED * 2 * len(GENERATED)
