"""What a move of the pin asks of this project's own lists: the matrix, the installed targets, the licences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from buildsys.bump.upstream import Upstream
from buildsys.matrix import BuildRow

_NAMED_FILE = re.compile(r"\$\{THIRD_PARTY\}/([\w./-]+)")
_FAMILIES = {"x86_64": "x86", "amd64": "x86", "aarch64": "ARM Linux", "arm64": "ARM Apple"}


@dataclass(frozen=True, kw_only=True)
class OwnLists:
    """What this project states of llama.cpp: its rows, and the texts of `RuntimeTargets.cmake` and `Licenses.cmake`."""

    rows: Sequence[BuildRow]
    targets: str
    licenses: str


def findings(old: Upstream, new: Upstream, own: OwnLists, exists: Callable[[str], bool]) -> Iterator[str]:
    """One line per thing to look at. Lists are compared with the new checkout whether or not it changed them.

    `exists` tells whether the new checkout has a file.
    """
    yield from _variants(new.variants, own.rows)
    for name in sorted(new.libraries):
        if name not in own.targets.replace(")", " ").split():
            yield f"library {name} is not installed: RuntimeTargets.cmake doesn't name it"
    yield from _appeared("backend", old.backends, new.backends, "no row builds it")
    yield from _appeared("build option", old.options, new.options)
    yield from _third_party(old.third_party, new.third_party, own.licenses)
    for path in dict.fromkeys(_NAMED_FILE.findall(own.licenses)):
        if not exists(path):
            yield f"licence text {path} is named in Licenses.cmake, and this llama.cpp lacks it: left out if its folder is gone too"


def _variants(variants: Mapping[str, Sequence[str]], rows: Sequence[BuildRow]) -> Iterator[str]:
    platforms = {row.identifier.split("-")[0]: row for row in rows}
    for platform, row in platforms.items():
        offered = variants.get(_FAMILIES[row.machine], ())
        for name in offered:
            if name not in row.cpu_variants:
                yield f"CPU variant {name}: cpu_variants of {platform} in matrix.toml lacks it"
        for name in row.cpu_variants:
            if name not in offered:
                yield f"CPU variant {name}: cpu_variants of {platform} in matrix.toml has it, and this llama.cpp does not"


def _appeared(what: str, old: frozenset[str], new: frozenset[str], note: str = "") -> Iterator[str]:
    for name in sorted(new - old):
        yield f"{what} {name} is new" + (f": {note}" if note else "")
    for name in sorted(old - new):
        yield f"{what} {name} is gone"


def _third_party(old: Mapping[str, str], new: Mapping[str, str], licenses: str) -> Iterator[str]:
    for path in sorted({*old, *new}):
        what = "licence" if "LICENSE" in path else "third-party code"
        if path not in new:
            yield f"{what} {path} is gone"
        elif path not in old:
            stated = path in licenses
            yield f"{what} {path} is new" + ("" if stated else ": Licenses.cmake doesn't name it")
        elif old[path] != new[path]:
            yield f"{what} {path} changed"
