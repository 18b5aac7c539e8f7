"""A schema document and where its references lead: pointers, ids, anchors, and other documents where that is allowed."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from llama_cpp._features.errors import InvalidSchemaError, UnsupportedSchemaError

from . import fetching

_BAD_ESCAPE = re.compile(r"~(?![01])")
_LEGACY = re.compile(r"json-schema\.org/draft-0[3467]/")
# Keywords whose values are data: nothing in them is a schema or an id.
_DATA = frozenset({"const", "enum", "default", "examples", "example"})


class Site:
    """A schema (an object or a bool) at its place. Sites of one document are compared by identity."""

    __slots__ = ("base", "pointer", "value")

    def __init__(self, value: Any, pointer: str, base: str) -> None:
        self.value = value
        self.pointer = pointer
        self.base = base


class Document:
    """All schemas that a conversion meets. Nothing in the caller's schema is changed."""

    def __init__(self, schema: Any, *, allow_fetch: bool = False) -> None:
        self._allow_fetch = allow_fetch
        self._sites: dict[tuple[int, str], Site] = {}
        self._kept: list[Any] = []
        self._resources: dict[str, tuple[Any, str]] = {}
        self._anchors: dict[tuple[str, str], tuple[Any, str]] = {}
        self._indexed = False
        self._targets: dict[tuple[str, str], Site] = {}
        self._add("", schema, "#")
        own = schema.get("$id") if isinstance(schema, dict) else None
        self.root = self.site(schema, "#", own if isinstance(own, str) else "")
        dialect = schema.get("$schema") if isinstance(schema, dict) else None
        self.legacy = isinstance(dialect, str) and _LEGACY.search(dialect) is not None
        """Whether the dialect is one in which `$ref` hides what stands beside it."""
        self._schema = schema

    def site(self, value: Any, pointer: str, base: str) -> Site:
        """The one site of a schema object. `$id` in it changes the base for what is inside."""
        key = (id(value), "" if isinstance(value, dict) else pointer)
        found = self._sites.get(key)
        if found is None:
            if isinstance(value, dict):
                own = value.get("$id")
                if isinstance(own, str) and pointer != "#":
                    base = urljoin(base, own)
            elif not isinstance(value, bool):
                raise InvalidSchemaError(
                    pointer.rpartition("/")[2] or "#", pointer, f"a schema is an object or a boolean, not {type(value).__name__}"
                )
            found = self._sites[key] = Site(value, pointer, base)
        return found

    def child(self, site: Site, value: Any, *steps: str | int) -> Site:
        """The site of a schema inside another one."""
        return self.site(value, "/".join((site.pointer, *(escaped(str(step)) for step in steps))), site.base)

    def resolve(self, site: Site, keyword: str = "$ref") -> Site:
        """Where the reference in a site leads."""
        reference = site.value[keyword]
        if not isinstance(reference, str):
            raise InvalidSchemaError(keyword, site.pointer, "a reference is a string")
        key = (site.base, reference)
        if key not in self._targets:
            self._targets[key] = self._find(reference, site)
        return self._targets[key]

    def _find(self, reference: str, site: Site) -> Site:
        if reference.startswith("#") and not self._resources_differ(site.base):
            resource, fragment = ("", reference[1:])
        else:
            resource, fragment = urldefrag(urljoin(site.base, reference) if site.base else reference)
        content, pointer = self._resource(resource, site, reference)
        fragment = unquote(fragment)
        base = resource
        if fragment and not fragment.startswith("/"):
            self._index()
            if (resource, fragment) not in self._anchors:
                raise InvalidSchemaError("$ref", site.pointer, f"{reference!r} names no anchor of the schema")
            content, pointer = self._anchors[resource, fragment]
        elif fragment:
            content, base = self._walk(content, fragment, site, reference, base)
            pointer += fragment
        return self.site(content, pointer, base)

    def _resources_differ(self, base: str) -> bool:
        own = self.root.base
        return base not in ("", own)

    def _walk(self, content: Any, fragment: str, site: Site, reference: str, base: str) -> tuple[Any, str]:
        for number, step in enumerate(fragment[1:].split("/")):
            if _BAD_ESCAPE.search(step):
                raise InvalidSchemaError("$ref", site.pointer, f"{reference!r} has a ~ that escapes nothing (~0 and ~1 do)")
            name = step.replace("~1", "/").replace("~0", "~")
            if number and isinstance(content, dict) and isinstance(content.get("$id"), str):
                base = urljoin(base, content["$id"])
            if isinstance(content, dict) and name in content:
                content = content[name]
            elif isinstance(content, list) and re.fullmatch(r"0|[1-9][0-9]*", name) and int(name) < len(content):
                content = content[int(name)]
            else:
                raise InvalidSchemaError("$ref", site.pointer, f"{reference!r} leads nowhere: there is no {name!r}")
        return content, base

    def _resource(self, url: str, site: Site, reference: str) -> tuple[Any, str]:
        if url in self._resources:
            return self._resources[url]
        self._index()
        if url not in self._resources:
            if not self._allow_fetch:
                raise UnsupportedSchemaError(
                    "$ref", site.pointer, f"{reference!r} is another document; allow_fetch=True lets it be fetched"
                )
            try:
                content = fetching.fetch(url)
            except (OSError, ValueError) as error:
                raise UnsupportedSchemaError("$ref", site.pointer, f"{reference!r} could not be fetched: {error}") from error
            self._kept.append(content)
            self._add(url, content, url + "#")
            self._scan(content, url, url + "#")
        return self._resources[url]

    def _add(self, url: str, content: Any, pointer: str) -> None:
        self._resources.setdefault(url.removesuffix("#"), (content, pointer))

    def _index(self) -> None:
        """Find the ids and anchors of the caller's schema, once, when a reference needs them."""
        if not self._indexed:
            self._indexed = True
            self._scan(self._schema, "", "#")

    def _scan(self, content: Any, base: str, pointer: str) -> None:
        """Ids and anchors in everything that may be a schema."""
        waiting: list[tuple[Any, str, str]] = [(content, base, pointer)]
        while waiting:
            value, at, place = waiting.pop()
            if isinstance(value, list):
                waiting.extend((item, at, f"{place}/{number}") for number, item in enumerate(value))
                continue
            if not isinstance(value, dict):
                continue
            own = value.get("$id", value.get("id"))
            if isinstance(own, str) and own:
                at = self._named(value, own, at, place)
            for keyword in ("$anchor", "$dynamicAnchor"):
                if isinstance(name := value.get(keyword), str):
                    self._anchors.setdefault((at, name), (value, place))
                    if place.startswith("#") and at == self.root.base:
                        self._anchors.setdefault(("", name), (value, place))
            waiting.extend((inner, at, f"{place}/{escaped(name)}") for name, inner in value.items() if name not in _DATA)

    def _named(self, value: Any, own: str, base: str, place: str) -> str:
        """Register an id; the base for what is inside. In draft-07 `#name` is an anchor."""
        url, fragment = urldefrag(urljoin(base, own))
        if fragment:
            self._anchors.setdefault((base, fragment), (value, place))
        if not own.startswith("#"):
            self._add(url, value, place)
            return url
        return base


def escaped(step: str) -> str:
    """A step of a JSON pointer."""
    return step.replace("~", "~0").replace("/", "~1")
