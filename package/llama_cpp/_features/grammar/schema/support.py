"""What of JSON Schema is supported, and how, as data: the documentation's table is printed from it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Support:
    """Keywords, whether they are supported, and the way or the limit of it."""

    keywords: tuple[str, ...]
    supported: bool
    how: str


ROWS: tuple[Support, ...] = (
    Support(("true", "false", "{}"), True, "anything, nothing, anything"),
    Support(("type",), True, "one or several; integers are written without a fraction"),
    Support(("nullable",), True, "OpenAPI: adds null to `type`"),
    Support(("enum", "const"), True, "in one spelling each; values that the rest of the schema excludes are left out; 1 and true differ"),
    Support(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), True, "exact, of any width; booleans as in draft 4"),
    Support(("multipleOf",), True, "up to 2,000 steps, such as 0.01 or 250"),
    Support(("minLength", "maxLength"), True, "in code points"),
    Support(("pattern",), True, "regular languages of ECMA-262; no look-around, back-references, word boundaries, lazy quantifiers, \\p"),
    Support(
        ("format",),
        True,
        "date, time, date-time, duration, uuid, email, hostname, ipv4, ipv6, uri, uri-reference, json-pointer, relative-json-pointer; "
        "formats that only annotate (int32, password, …) count for nothing; others are refused",
    ),
    Support(("properties", "required"), True, "members in the order of `properties`, then what is only required"),
    Support(("additionalProperties", "patternProperties", "propertyNames"), True, "at most 5 patterns; further members come last"),
    Support(("minProperties", "maxProperties"), True, "`minProperties` not where it would count several members whose names are open"),
    Support(("dependentRequired", "dependentSchemas", "dependencies"), True, "as cases"),
    Support(("prefixItems", "items", "additionalItems"), True, "the older list in `items` too; `items: false` only behind a prefix"),
    Support(("minItems", "maxItems"), True, "of any size"),
    Support(("contains", "minContains", "maxContains"), True, "while at most 4,000 rules are needed"),
    Support(("uniqueItems",), True, "where items are an enum of at most 10 values, or at most one item is allowed"),
    Support(("allOf", "anyOf", "oneOf", "not", "if", "then", "else"), True, "merged with what stands beside them, in at most 512 cases"),
    Support(("$ref", "$id", "$anchor", "$defs", "definitions"), True, "in the schema; other documents by http(s) with `allow_fetch`"),
    Support(("unevaluatedProperties",), True, "only as a boolean, in a schema that is not part of a combination"),
    Support(("$dynamicRef", "$recursiveRef", "unevaluatedItems"), False, ""),
    Support(("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"), True, "no influence"),
    Support(("contentEncoding", "contentMediaType", "contentSchema"), True, "no influence, as the specification has it"),
)


def table() -> str:
    """The rows as a Markdown table."""
    lines = ["| keyword | supported | how |", "|---|---|---|"]
    for row in ROWS:
        words = ", ".join(f"`{keyword}`" for keyword in row.keywords)
        how = row.how or "`UnsupportedSchemaError`"
        lines.append(f"| {words} | {'yes' if row.supported else 'refused'} | {how} |")
    return "\n".join(lines) + "\n"
