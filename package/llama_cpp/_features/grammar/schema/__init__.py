"""JSON Schema compiled to a grammar: exactly, or refused by the name of the keyword that stands in the way."""

from .builtin import PRIMITIVE_RULES, SPACE_RULE, STRING_FORMAT_RULES
from .conversion import SchemaConverter, json_schema_to_gbnf, schema_of

__all__ = ["PRIMITIVE_RULES", "SPACE_RULE", "STRING_FORMAT_RULES", "SchemaConverter", "json_schema_to_gbnf", "schema_of"]
