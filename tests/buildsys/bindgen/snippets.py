"""Small headers and what the generator makes of them."""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from buildsys.bindgen.catalogue import BoundHeader, Catalogue, Section
from buildsys.bindgen.generate import generate
from buildsys.bindgen.places import BINDINGS, PROBE
from buildsys.bindgen.read import SourceTree

PROLOGUE = "#pragma once\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n"


def source_tree(root: Path, text: str, *, header: dict[str, Any] | None = None, **catalogue: Any) -> SourceTree:
    """A checkout with one header, `toy.h`, bound as header `toy` of library llama."""
    (root / "toy.h").write_text(PROLOGUE + text, encoding="utf-8")
    settings: dict[str, Any] = {"key": "toy", "path": "toy.h", "library": "llama", **(header or {})}
    if not settings.get("only"):
        settings.setdefault("sections", (Section(module="all", first="toy_first"),))
    table = Catalogue(include=(".",), prefixes=("TOY_",), header=(BoundHeader(**settings),), **catalogue)
    return SourceTree(root, table)


@dataclass(frozen=True)
class Generated:
    """Generated texts by their path, and the modules among them that can be executed alone."""

    files: dict[Path, str]

    def text(self, path: str) -> str:
        """One file of the bindings package."""
        return self.files[BINDINGS / path]

    @property
    def probe(self) -> str:
        return self.files[PROBE]

    @property
    def functions(self) -> str:
        return self.text("toy/all.py")

    def decorator(self, function: str) -> str:
        """The decorator of a function's declaration, on one line."""
        before = self.functions.partition(f"\ndef {function}(")[0]
        return " ".join(before[before.rindex("\n@") :].split()).replace("( ", "(").replace(", )", ")")

    def signature(self, function: str) -> str:
        """A function's declaration, on one line."""
        after = self.functions.partition(f"\ndef {function}(")[2]
        head, _, _ = after.partition(": ...")
        return " ".join(head.split())

    def types(self) -> Any:
        """The executed declarations module."""
        return self._execute("declarations/toy.py")

    def constants(self) -> Any:
        """The executed constants module."""
        return self._execute("constants/toy.py")

    def _execute(self, path: str) -> Any:
        module = types.ModuleType(f"generated_{path.replace('/', '_').removesuffix('.py')}")
        sys.modules[module.__name__] = module
        exec(compile(self.text(path), path, "exec"), vars(module))  # noqa: S102 - the very thing under test
        return module


def generated(root: Path, text: str, *, header: dict[str, Any] | None = None, **catalogue: Any) -> Generated:
    """What a header gives. `toy_first` is added, so that there always is a section."""
    return Generated(generate(source_tree(root, text + "\nvoid toy_first(void);\n", header=header, **catalogue)))
