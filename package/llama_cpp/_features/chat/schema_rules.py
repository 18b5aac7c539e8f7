"""JSON Schema to grammar rules, for the parts of a larger grammar."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from llama_cpp._features.grammar.gbnf import parse_gbnf
from llama_cpp._features.grammar.schema.compiler import Compiler, Options
from llama_cpp._features.grammar.tree import Grammar


def compile_schema(schema: Mapping[str, Any] | bool) -> Grammar:
    """The grammar of JSON text that a schema accepts. Raises `UnsupportedSchemaError` and `InvalidSchemaError`.

    The same schema is compiled once.
    """
    return _compiled(json.dumps(schema))


@lru_cache(maxsize=256)
def _compiled(schema: str) -> Grammar:
    return parse_gbnf(Compiler(json.loads(schema), Options()).text()).tree
