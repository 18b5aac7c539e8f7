"""Grammars: `LlamaGrammar`, the texts of grammars that come with the package, and the conversion of JSON Schema."""

from ._features.grammar.bundled import (
    ARITHMETIC_GBNF,
    C_GBNF,
    CHESS_GBNF,
    ENGLISH_GBNF,
    JAPANESE_GBNF,
    JSON_ARR_GBNF,
    JSON_GBNF,
    LIST_GBNF,
)
from ._features.grammar.definition import LLAMA_GRAMMAR_DEFAULT_ROOT, LlamaGrammar
from ._features.grammar.schema import PRIMITIVE_RULES, SPACE_RULE, STRING_FORMAT_RULES, SchemaConverter, json_schema_to_gbnf

__all__ = [
    "ARITHMETIC_GBNF",
    "CHESS_GBNF",
    "C_GBNF",
    "ENGLISH_GBNF",
    "JAPANESE_GBNF",
    "JSON_ARR_GBNF",
    "JSON_GBNF",
    "LIST_GBNF",
    "LLAMA_GRAMMAR_DEFAULT_ROOT",
    "PRIMITIVE_RULES",
    "SPACE_RULE",
    "STRING_FORMAT_RULES",
    "LlamaGrammar",
    "SchemaConverter",
    "json_schema_to_gbnf",
]
