"""Grammar rules for one call as a format writes it, with arguments that the tool's schema accepts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from llama_cpp._features.errors import UnsupportedSchemaError
from llama_cpp._features.grammar.tree import NOTHING, Characters, Node, Repetition

from .output.description import Body, BracedCalls, CodeCalls, JsonCalls, NamedCalls, PythonCalls, TaggedCalls
from .output.json_reading import as_json
from .output.values import allowed_types
from .rule_book import RuleBook, choice, sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_DIGITS = Repetition(Characters(((0x30, 0x39),)), 1, 4)
_OBJECT_WORDS = frozenset(
    {"type", "properties", "required", "additionalProperties", "title", "description", "$defs", "definitions", "$schema", "$id", "$comment"}
)  # fmt: skip
_TEXT_LIMITS = ("pattern", "format", "minLength", "maxLength")
_PLAIN_KEY = re.compile(r"[^\s\"'<>{}\[\]:,|=][^\"'<>{}\[\]:,|=\n]*")
_PYTHON_KEY = re.compile(r"[A-Za-z_]\w*")
_ANNOTATIONS = ("title", "description", "default", "examples", "$comment", "deprecated")


class CallRules:
    """Makes the rules for calls of one tool."""

    def __init__(self, book: RuleBook, name: str, schema: Mapping[str, Any]) -> None:
        self._book = book
        self._name = name
        self._schema = schema

    def call(self, body: Body) -> Node:
        """A call as `body` describes it."""
        match body:
            case JsonCalls(keyed=True):
                return sequence("{" + as_json(self._name) + ": ", self.arguments(), "}")
            case JsonCalls():
                head = "{" + f"{as_json(body.name)}: {as_json(self._name)}, {as_json(body.arguments[0])}: "
                return sequence(head, self.arguments(), "}")
            case NamedCalls():
                end = f"{body.padding}{body.end[0]}" if body.end else ""
                return sequence(body.lead, *self._header(body.written), body.separator, self.arguments(), end)
            case TaggedCalls():
                return self._tagged(body)
            case PythonCalls():
                return sequence(f"{self._name}(", self._list(lambda key: f"{key}=", self._json, ", ", _PYTHON_KEY), ")")
            case BracedCalls():
                return sequence(f"{body.lead}{self._name}{{", self._list(lambda key: f"{key}:", self._braced(body.quote), ","), "}")
            case CodeCalls():
                raise UnsupportedSchemaError("type", "#", "a call that is bare code has no grammar")

    def arguments(self) -> Node:
        """The arguments as JSON."""
        return self._book.schema(f"{self._name}-arguments", self._schema)

    def _header(self, written: str) -> list[Node | str]:
        before, found, after = written.format(name=self._name, index="\0").partition("\0")
        return [before, _DIGITS, after] if found else [before]

    # Formats that write the arguments one by one

    def _members(self, key_pattern: re.Pattern[str] = _PLAIN_KEY) -> list[tuple[str, Mapping[str, Any], bool]]:
        """Key, schema and whether it must be there, of each property. `UnsupportedSchemaError` for more than that."""
        for keyword in self._schema:
            if keyword not in _OBJECT_WORDS and keyword not in _ANNOTATIONS:
                raise UnsupportedSchemaError(
                    keyword, "#", f"the format in which this model calls tools cannot write the arguments of {self._name!r} so"
                )
        properties = self._schema.get("properties") or {}
        required = set(self._schema.get("required") or ())
        for key in required - properties.keys():
            raise UnsupportedSchemaError("required", "#", f"{key!r} is required by tool {self._name!r}, but not among its properties")
        for key in properties:
            if not key_pattern.fullmatch(key):
                raise UnsupportedSchemaError("properties", "#", f"the format in which this model calls tools cannot write the name {key!r}")
        return [(key, schema if isinstance(schema, Mapping) else {}, key in required) for key, schema in properties.items()]

    def _tagged(self, body: TaggedCalls) -> Node:
        parts: list[Node | str] = [f"{body.lead}{self._name}{body.name_end}{body.between}"]
        for key, schema, required in self._members():
            is_text = "string" in allowed_types(schema, self._schema)
            attribute = body.string_attributes[0 if is_text else 1]
            end = body.value_end.replace("{key}", key)
            value = self._text(key, schema, end) if is_text else sequence(self._json(key, schema), f"{body.padding}{end}")
            gap = body.between if body.value else ""
            element = sequence(f"{body.parameter}{key}{attribute}{body.key_end}{gap}{body.value}{body.padding}", value, body.between)
            parts.append(element if required else Repetition(self._book.rule(f"{self._name}-{key}", element), 0, 1))
        return sequence(*parts, body.end)

    def _json(self, key: str, schema: Mapping[str, Any]) -> Node:
        """JSON for one property, with the definitions that it may refer to."""
        definitions = {word: self._schema[word] for word in ("$defs", "definitions") if word in self._schema}
        return self._book.schema(f"{self._name}-{key}", {**definitions, **schema})

    def _text(self, key: str, schema: Mapping[str, Any], end: str) -> Node:
        """A string as it is, up to and with `end`; of an enumeration, one of its values."""
        values = schema.get("enum", [schema["const"]] if "const" in schema else None)
        if isinstance(values, list):
            return sequence(choice(sequence(value if isinstance(value, str) else as_json(value)) for value in values), end)
        for keyword in _TEXT_LIMITS:
            if keyword in schema:
                where = f"#/properties/{key}"
                raise UnsupportedSchemaError(
                    keyword, where, f"the format in which this model calls tools writes text without quotes, so {keyword} cannot be held"
                )
        return self._book.until(end)

    def _list(
        self,
        key_text: Callable[[str], str],
        value: Callable[[str, Mapping[str, Any]], Node],
        comma: str,
        keys: re.Pattern[str] = _PLAIN_KEY,
    ) -> Node:
        """Members with commas between them, of which some may be missing."""
        members = [(required, sequence(key_text(key), value(key, schema))) for key, schema, required in self._members(keys)]
        return _listed(self._book, members, comma, f"{self._name}-list")

    def _braced(self, quote: str) -> Callable[[str, Mapping[str, Any]], Node]:
        return lambda key, schema: _BracedValue(self._book, quote, self._schema).node(key, schema)


def _listed(book: RuleBook, members: Sequence[tuple[bool, Node]], comma: str, hint: str) -> Node:
    """Members in their order, those that aren't required also missing, commas between what is there."""
    after: Node = NOTHING  # what may follow a member
    first: Node = NOTHING  # what may stand where nothing has been written yet
    for required, member in reversed(members):
        here = sequence(member, after)
        begins = here if required else choice((here, first))
        goes_on = sequence(comma, here)
        first = begins if required else book.rule(hint, begins)
        after = book.rule(hint, goes_on if required else choice((goes_on, after)))
    return first


class _BracedValue:
    """Values with bare keys and marked strings."""

    def __init__(self, book: RuleBook, quote: str, root: Mapping[str, Any]) -> None:
        self._book = book
        self._quote = quote
        self._root = root

    def node(self, key: str, schema: Mapping[str, Any]) -> Node:
        """The rule for one value. `UnsupportedSchemaError` for what only JSON could say."""
        values = schema.get("enum", [schema["const"]] if "const" in schema else None)
        if isinstance(values, list):
            return choice(sequence(f"{self._quote}{value}{self._quote}" if isinstance(value, str) else as_json(value)) for value in values)
        words = schema.keys() - set(_ANNOTATIONS)
        match schema.get("type"):
            case "string" if words == {"type"}:
                return sequence(self._quote, self._book.until(self._quote))
            case "integer" | "number" | "boolean" | "null":
                return self._book.schema(key, schema)
            case "array" if words == {"type", "items"}:
                item = self.node(f"{key}-item", schema["items"])
                return sequence("[", Repetition(sequence(item, Repetition(sequence(",", item))), 0, 1), "]")
            case "object" if words <= _OBJECT_WORDS and "properties" in schema:
                required = set(schema.get("required") or ())
                members = [
                    (name in required, sequence(f"{name}:", self.node(f"{key}-{name}", each)))
                    for name, each in schema["properties"].items()
                ]
                return sequence("{", _listed(self._book, members, ",", key), "}")
        keyword = next((word for word in schema if word not in {"type", *_ANNOTATIONS}), "type")
        raise UnsupportedSchemaError(keyword, f"#/properties/{key}", "the format in which this model calls tools cannot write such a value")
