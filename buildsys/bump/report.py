"""The report of a move: both checkouts read and compared, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from buildsys.bindgen import ir
from buildsys.bindgen.catalogue import Catalogue, load_catalogue
from buildsys.bindgen.read import SourceTree
from buildsys.bump.difference import compare
from buildsys.bump.findings import OwnLists, findings
from buildsys.bump.upstream import read_upstream
from buildsys.bump.words import lines, summary
from buildsys.matrix import rows
from buildsys.project import NATIVE


def report_lines(old: Path, new: Path) -> Iterator[str]:
    """The difference of the C interface, then what the move asks of this project's lists."""
    catalogue = load_catalogue()
    changes = compare(read_api(old, catalogue), read_api(new, catalogue))
    yield f"C interface: {summary(changes)}"
    yield from lines(changes)
    yield ""
    yield "Own lists:"
    found = list(findings(read_upstream(old), read_upstream(new), own_lists(), lambda path: (new / path).is_file()))
    yield from (f"  {finding}" for finding in found or ["nothing to do"])


def read_api(root: Path, catalogue: Catalogue) -> list[ir.Header]:
    """The bound headers of a checkout; one that it hasn't is left out, so that all its declarations show as added or removed."""
    present = tuple(header for header in catalogue.header if (root / header.path).is_file())
    return SourceTree(root, msgspec.structs.replace(catalogue, header=present)).read()


def own_lists() -> OwnLists:
    """What this project's files state."""
    return OwnLists(
        rows=rows(),
        targets=(NATIVE / "RuntimeTargets.cmake").read_text(encoding="utf-8"),
        licenses=(NATIVE / "Licenses.cmake").read_text(encoding="utf-8"),
    )
