"""Compiles a document into a grammar: one rule for each schema that is met, made one after the other, never one inside another."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

from llama_cpp._features.errors import InvalidSchemaError, UnsupportedSchemaError
from llama_cpp._features.grammar import printing
from llama_cpp._features.grammar.simplification import simplify
from llama_cpp._features.grammar.tree import Choice, Literal, Node, Reference

from . import numerals, primitives, pruning, spelling
from .arrays import ArrayWriter
from .automaton import TooManyStatesError
from .cases import TYPES, Case, Conjunction, Signed, conjunction, key, type_of
from .document import Document, Site, escaped
from .keywords.aspect import schemas
from .keywords.logic import disjoint, exclusive
from .members import Member, Members, print_members
from .objects import ObjectWriter
from .rulebook import Rulebook
from .strings import string_node
from .unfolding import ASPECTS, Unfolder

ROOT = "root"

_SIMPLE = {name: Reference(name) for name in ("string", "number", "integer", "boolean", "null", "object", "array")}
_KEYWORDS = frozenset({keyword for aspect in ASPECTS for keyword in aspect.keywords} | {"unevaluatedProperties"})
_BEYOND_TYPE = _KEYWORDS - {"type"}
_NUMERIC = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_PLAIN_OBJECT = frozenset({"type", "properties", "required", "additionalProperties"})
_FREE = {each.name: getattr(Case(), each.name) for each in fields(Case) if each.name not in ("types", "typed", "implied")}


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to convert. `order` ranks the names of properties that come before the others."""

    order: Mapping[str, int] = field(default_factory=dict)
    allow_fetch: bool = False
    dotall: bool = False
    raw_pattern: bool = False
    compact: bool = False
    open_objects: bool = False


class Compiler:
    """Makes one grammar of one schema."""

    def __init__(self, schema: Any, options: Options) -> None:
        self._options = options
        self._document = Document(schema, allow_fetch=options.allow_fetch)
        self._unfolder = Unfolder(self._document, dotall=options.dotall)
        self._any = primitives.ANY
        self._rules = Rulebook({ROOT, primitives.OTHER_ANY, *primitives.RULES[False][primitives.ANY]})
        self._nodes: dict[tuple[tuple[int, bool], ...], Node] = {}
        self._waiting: deque[tuple[Conjunction, str]] = deque()

    def text(self) -> str:
        """The grammar as GBNF."""
        root = conjunction([Signed(self._document.root)])
        self._nodes[key(root)] = Reference(ROOT)
        self._open_root(root)
        if ROOT not in self._rules.rules:
            simple = self._simple(root)
            if simple is None:
                self._waiting.append((root, ROOT))
            else:
                self._rules.rules[ROOT] = simple
        while self._waiting:
            parts, name = self._waiting.popleft()
            self._rules.current = name
            self._rules.rules[name] = self._made(parts, name)
        return self._printed()

    def _open_root(self, root: Conjunction) -> None:
        """A root that constrains only numbers is named `value`, as one without constraints: any value goes by another name then."""
        if len(root) == 1 and not isinstance(root[0].site.value, bool):
            schema = root[0].site.value
            used = schema.keys() & _KEYWORDS
            if used and used <= _NUMERIC:
                self._any = primitives.OTHER_ANY
                self._nodes[key(root)] = Reference(primitives.ANY)
                self._rules.rules[ROOT] = Reference(primitives.ANY)
                self._waiting.append((root, primitives.ANY))

    def _printed(self) -> str:
        made = self._rules.rules
        if len(made) > 1 or not _is_plain(made[ROOT]):
            made = pruning.prune(made)
            if ROOT not in made:
                raise UnsupportedSchemaError("schema", "#", "no finite value satisfies it")
            if (name := pruning.circle(made)) is not None:
                raise InvalidSchemaError("$ref", "#", f"schemas refer to each other without end (rule {name})")
        builtin = primitives.RULES[self._options.compact][self._any]
        lines: list[str] = []
        needed: dict[str, None] = {}
        for name in (ROOT, *(name for name in made if name != ROOT)):
            node = made[name]
            if isinstance(node, Members):
                lines.extend(print_members(name, node))
                needed.update(_needed_by_members(node))
            else:
                node = simplify(node)
                lines.extend(printing.print_rule(name, node))
                needed.update(dict.fromkeys(primitives.references(node)))
        waiting = [name for name in needed if name in builtin and name not in made]
        done = set(waiting)
        for name in waiting:
            line, following = _builtin_line(name, self._any, self._options.compact)
            lines.append(line)
            for each in following:
                if each not in done:
                    done.add(each)
                    waiting.append(each)
        return "".join(lines)

    def _refer(self, parts: Conjunction, hint: str) -> Node:
        """The node that stands for a conjunction elsewhere: something short, or the reference to a rule that will be made."""
        known = key(parts)
        found = self._nodes.get(known)
        if found is None:
            found = self._simple(parts)
            if found is None:
                parts, name = self._followed(parts, hint)
                found = self._placed(parts, name)
            self._nodes[known] = found
        return found

    def _placed(self, parts: Conjunction, name: tuple[str, ...]) -> Node:
        """The node of a conjunction that is no mere reference."""
        found = self._nodes.get(key(parts)) or self._simple(parts)
        if found is None:
            found = Reference(self._rules.name(*name))
            self._waiting.append((parts, found.rule))
        self._nodes[key(parts)] = found
        return found

    def _followed(self, parts: Conjunction, hint: str) -> tuple[Conjunction, tuple[str, ...]]:
        """Through schemas that are nothing but a reference, to what they mean, and the words of a name for it."""
        name: tuple[str, ...] = (self._rules.current.partition("--")[0], hint)
        seen: set[int] = set()
        while len(parts) == 1 and parts[0].positive:
            site = parts[0].site
            used = site.value.keys() & _KEYWORDS
            if "$ref" not in used or (len(used) > 1 and not self._document.legacy):
                break
            if id(site) in seen:
                raise InvalidSchemaError("$ref", site.pointer, "schemas refer to each other without end")
            seen.add(id(site))
            target = self._document.resolve(site)
            name = (target.pointer.rpartition("/")[2],)
            parts = conjunction([Signed(target)])
        return parts, name

    def _simple(self, parts: Conjunction) -> Node | None:
        """Nodes that need no rule of their own."""
        if not parts:
            return Reference(self._any)
        if len(parts) > 1 or not parts[0].positive:
            return None
        schema = parts[0].site.value
        if schema is False:
            return Choice(())
        kind = schema.get("type")
        used = schema.keys() & _KEYWORDS
        if not used:
            return Reference(self._any)
        if len(used) == 1 and kind.__class__ is str:
            return _SIMPLE.get(kind)
        return None

    def _made(self, parts: Conjunction, name: str) -> Node | Members:
        """The rule of a conjunction."""
        followed, words = self._followed(parts, name)
        if followed is not parts:
            return self._placed(followed, words)
        try:
            if len(parts) == 1 and parts[0].positive:
                site = parts[0].site
                used = site.value.keys() & _KEYWORDS
                if used <= _PLAIN_OBJECT and site.value.get("type") == "object" and site.value.get("additionalProperties", False) is False:
                    plain = self._plain_object(site)
                    if plain is not None:
                        return plain
                if len(used) == 1 and (options := self._options_of(site, next(iter(used)))):
                    return self._alternatives(
                        [self._refer(conjunction([Signed(option)]), str(number)) for number, option in enumerate(options)]
                    )
            return self._alternatives([node for case in self._unfolder.unfold(parts) for node in self._by_type(case)])
        except TooManyStatesError as error:
            site = parts[0].site
            keyword = next((each for each in ("pattern", "multipleOf", "patternProperties", "maxLength") if each in site.value), "schema")
            raise UnsupportedSchemaError(keyword, site.pointer, f"the grammar would be too large: {error}") from error

    def _plain_object(self, site: Site) -> Members | None:
        """Declared properties and nothing else: what most schemas are, without the way through cases."""
        schema = site.value
        properties, required = schema.get("properties"), schema.get("required", ())
        if not properties or properties.__class__ is not dict or required.__class__ not in (list, tuple):
            return None
        if not {*map(type, properties), *map(type, required)} <= {str}:
            return None
        needed = set(required)
        if not needed <= properties.keys():
            return None
        base, pointer, nodes = site.base, f"{site.pointer}/properties/", _SIMPLE
        members: list[Member] = []
        for name, inner in properties.items():
            node: Node | None = None
            if inner.__class__ is dict:
                kind = inner.get("type")
                if kind.__class__ is str and (len(inner) == 1 or inner.keys().isdisjoint(_BEYOND_TYPE)):
                    node = nodes.get(kind)
            if node is None:
                node = self._refer(conjunction((Signed(self._document.site(inner, pointer + escaped(name), base)),)), name)
            members.append((name, node, name in needed))
        if order := self._options.order:
            members.sort(key=lambda member: order.get(member[0], len(order)))
        return (
            Members(tuple(members), (), self._options.compact)
            if not self._options.open_objects or "additionalProperties" in schema
            else None
        )

    def _options_of(self, site: Site, keyword: str) -> list[Site]:
        """The alternatives of a schema that is nothing but anyOf, or oneOf whose alternatives exclude each other."""
        if keyword not in ("anyOf", "oneOf"):
            return []
        options = schemas(self._unfolder, site, keyword)
        if keyword == "oneOf" and not exclusive(self._unfolder, options):
            for number, option in enumerate(options):
                if any(option.value is other.value or not disjoint(self._unfolder, option, other) for other in options[number + 1 :]):
                    return []
        return options

    def _by_type(self, case: Case) -> list[Node | Members]:
        """One node for each type that the case allows."""
        if case.values is not None:
            return [spelling.value_node(value, compact=self._options.compact) for value in case.values]
        for excluded in case.excluded:
            if isinstance(excluded.value, dict | list) and {"object", "array"} & case.types:
                raise UnsupportedSchemaError("not", excluded.site.pointer, "an object or array cannot be excluded by its value")
        if case.types == TYPES and all(getattr(case, name) == value for name, value in _FREE.items()):
            return [Reference(self._any)]
        found: list[Node | Members] = []
        for kind in ("object", "array", "string", "number", "boolean", "null"):
            if kind in case.types:
                found.extend(self._of_type(case, kind))
        return found

    def _of_type(self, case: Case, kind: str) -> list[Node | Members]:
        options = self._options
        values = [each.value for each in case.excluded]
        if kind == "null":
            return [] if any(value is None for value in values) else [_SIMPLE["null"]]
        if kind == "boolean":
            left = [each for each in (True, False) if not any(value is each for value in values)]
            return [_SIMPLE["boolean"]] if len(left) == 2 else [Literal(str(each).lower()) for each in left]  # noqa: PLR2004
        if kind == "string":
            return [string_node(case, self._rules, raw=options.raw_pattern)]
        if kind == "number":
            return [self._number(case)]
        if kind == "array":
            return [ArrayWriter(case, self._rules, self._refer, self._unfolder, compact=options.compact).node()]
        writer = ObjectWriter(
            case,
            self._rules,
            self._refer,
            self._unfolder,
            order=options.order,
            compact=options.compact,
            open_objects=options.open_objects,
        )
        return [writer.node()]

    def _number(self, case: Case) -> Node:
        excluded = tuple(numerals.exact(each.value) for each in case.excluded if type_of(each.value) == "number")
        interval = replace(case.numbers, excluded=excluded)
        if interval.free:
            return _SIMPLE["integer" if interval.whole else "number"]
        if (node := numerals.signed(interval)) is not None:
            return node
        machine = numerals.spellings(interval)
        return self._rules.automaton(machine, spelling.plain_character, loops=numerals.endless(machine, interval))

    def _alternatives(self, nodes: list[Node | Members]) -> Node | Members:
        """One of several nodes. An object is a rule of its own unless it is the only one."""
        if len(nodes) == 1:
            return nodes[0]
        options = [self._rules.shared("o", node) if isinstance(node, Members) else node for node in nodes]
        distinct = tuple(dict.fromkeys(option for option in options if option != Choice(())))
        return distinct[0] if len(distinct) == 1 else Choice(distinct)


@lru_cache(maxsize=64)
def _builtin_line(name: str, any_value: str, compact: bool) -> tuple[str, tuple[str, ...]]:
    """A primitive rule as text, and what it refers to."""
    node = primitives.RULES[compact][any_value][name]
    return "".join(printing.print_rule(name, node)), tuple(dict.fromkeys(primitives.references(node)))


def _is_plain(node: Node | Members) -> bool:
    """An object of nothing but primitive members can be completed."""
    return (
        isinstance(node, Members)
        and not node.further
        and all(type(value) is Reference and value.rule != ROOT for _, value, _ in node.members)
    )


def _needed_by_members(node: Members) -> dict[str, None]:
    needed = {} if node.compact else {"space": None}
    needed.update({value.rule: None for _, value, _ in node.members if type(value) is Reference})
    others = [value for _, value, _ in node.members if type(value) is not Reference]
    for each in (*others, *(each for pair in node.further for each in pair)):
        needed.update(dict.fromkeys(primitives.references(each)))
    return needed
