"""Every name, parameter and default of the published interfaces is served, as `manifest.json` lists them.

Where the lineages contradict each other, the first one's default is served; what differs from both on purpose, and what is
not served yet, stands in `departures.json` with its reason.
"""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path
from typing import Any, ClassVar

import pytest
from surface import comparison

import llama_cpp.llama_cpp as constants
from llama_cpp import Llama

HERE = Path(__file__).parent
MANIFEST: dict[str, Any] = json.loads((HERE / "manifest.json").read_text(encoding="utf-8"))
DEPARTURES: dict[str, Any] = json.loads((HERE / "departures.json").read_text(encoding="utf-8"))
ABSENT: dict[str, str] = DEPARTURES["absent"]


def lookup(path: str) -> Any:
    """`module:Class.member`."""
    module, _, name = path.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def signature(path: str) -> dict[str, inspect.Parameter]:
    parameters = dict(inspect.signature(lookup(path)).parameters)
    parameters.pop("self", None)
    return parameters


def is_served(path: str) -> bool:
    """Whether a module, or a name in one, is there."""
    module, _, name = path.partition(":")
    try:
        found = importlib.import_module(module)
        return not name or getattr(found, name) is not None
    except (ImportError, AttributeError):
        return False


def listed_names() -> list[str]:
    modules = [f"llama_cpp.{name}" for name in MANIFEST["modules"]]
    return modules + [f"{module}:{name}" for module, names in MANIFEST["names"].items() for name in names]


def test_every_name_is_there() -> None:
    assert [path for path in listed_names() if path not in ABSENT and not is_served(path)] == []


def test_every_signature_is_served() -> None:
    found = {}
    for path, rows in MANIFEST["functions"].items():
        if path in ABSENT:
            continue
        departures = {name: default for name, (default, _reason) in DEPARTURES["defaults"].get(path, {}).items()}
        wrong = comparison.problems(signature(path), rows, departures, constants)
        if wrong:
            found[path] = wrong
    assert found == {}


def test_every_attribute_is_there(synthetic: Llama) -> None:
    missing = {}
    for path, lineages in MANIFEST["attributes"].items():
        names = sorted({name for names in lineages.values() for name in names})
        missing[path] = [name for name in names if f"{path}.{name}" not in ABSENT and not hasattr(synthetic, name)]
    assert missing == {path: [] for path in missing}


def test_what_is_said_to_be_absent_is(synthetic: Llama) -> None:
    """The list only shrinks: what is served must be taken off."""
    attributes = {f"{path}.{name}" for path in MANIFEST["attributes"] for name in dir(synthetic)}
    assert [path for path in ABSENT if path in attributes or is_served(path) or _is_function(path)] == []


def _is_function(path: str) -> bool:
    try:
        return path in MANIFEST["functions"] and callable(lookup(path))
    except (ImportError, AttributeError):
        return False


def test_departures_are_of_things_that_are_listed() -> None:
    known = {*listed_names(), *MANIFEST["functions"]}
    known |= {f"{path}.{name}" for path, lineages in MANIFEST["attributes"].items() for names in lineages.values() for name in names}
    assert [path for path in ABSENT if path not in known] == []
    for path, defaults in DEPARTURES["defaults"].items():
        for name, (default, reason) in defaults.items():
            row = MANIFEST["functions"][path][name]
            assert default != comparison.due(row), f"{path}({name}) is no departure"
            assert len(reason) > 20, f"{path}({name}) needs a reason"


def test_both_lineages_parameters_are_listed() -> None:
    """The tables are whole: as many rows as were published, and the contradictions among them."""
    sizes = {
        "__init__": 73,
        "create_completion": 51,
        "__call__": 51,
        "generate": 46,
        "sample": 41,
        "eval": 4,
        "embed": 5,
        "create_embedding": 4,
    }
    for name, size in sizes.items():
        assert len(MANIFEST["functions"][f"llama_cpp.llama:Llama.{name}"]) == size, name
    contradictions = {
        (path.rpartition(".")[2], name)
        for path, rows in MANIFEST["functions"].items()
        for name, row in rows.items()
        if comparison.contradicts(row)
    }
    assert {("__init__", "n_gpu_layers"), ("__init__", "n_batch"), ("__init__", "use_mmap"), ("__call__", "max_tokens")} == contradictions


class TestComparison:
    """It finds what it is there for."""

    ROWS: ClassVar = {
        "a": {"jp": "required", "ab": "required"},
        "b": {"jp": "0.8", "ab": "0.5"},
        "c": {"ab": "True"},
        "d": {"jp": "LLAMA_DEFAULT_SEED"},
        "e": {"jp": "[]", "ab": "[]"},
    }
    RIGHT: ClassVar = {"a": inspect.Parameter.empty, "b": 0.8, "c": True, "d": 0xFFFFFFFF, "e": ()}

    def found(self, defaults: dict[str, Any], departures: dict[str, str] | None = None) -> list[str]:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = {name: inspect.Parameter(name, kind, default=default) for name, default in defaults.items()}
        return comparison.problems(parameters, self.ROWS, departures or {}, constants)

    def test_the_right_one(self) -> None:
        assert self.found(self.RIGHT) == []

    @pytest.mark.parametrize(
        ("change", "about"),
        [
            ({"a": 1}, "a: has the default 1, but is required"),
            ({"b": 0.5}, "b: has the default 0.5; 0.8 is due"),
            ({"b": inspect.Parameter.empty}, "b: has no default; 0.8 is due"),
            ({"c": 1}, "c: has the default 1; True is due"),
            ({"c": None}, "c: has the default None; True is due"),
            ({"d": 1}, "d: has the default 1; LLAMA_DEFAULT_SEED is due"),
            ({"e": None}, "e: has the default None; [] is due"),
        ],
    )
    def test_a_wrong_default(self, change: dict[str, Any], about: str) -> None:
        assert self.found({**self.RIGHT, **change}) == [about]

    @pytest.mark.parametrize("name", ROWS)
    def test_a_missing_parameter(self, name: str) -> None:
        assert self.found({each: default for each, default in self.RIGHT.items() if each != name}) == [f"{name}: is not accepted"]

    def test_parameters_in_another_order(self) -> None:
        swapped = {name: self.RIGHT[name] for name in ("b", "a", "c", "d", "e")}
        assert self.found(swapped) == ["the order is ['b', 'a', 'd', 'e']; ['a', 'b', 'd', 'e'] is due"]

    def test_a_departure(self) -> None:
        assert self.found({**self.RIGHT, "b": 3}, {"b": "3"}) == []
