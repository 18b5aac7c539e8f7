"""Checks of each native file by itself: readable, stripped, hardened, with a C++ runtime and build paths of its own kept in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from buildsys.audit.policy import Policy, matches
from buildsys.audit.report import Outcome
from buildsys.audit.wheel import Wheel
from buildsys.project import ROOT

SHOWN_SYMBOLS = 3


def readable(wheel: Wheel, _policy: Policy) -> Outcome:
    """Every native file parses and is for the wheel's own machine."""
    findings = [f"{name} {reason}" for name, reason in wheel.unreadable.items()]
    findings.extend(f"{image.path} is built for {image.machine}" for image in wheel.images if image.machine != wheel.machine)
    return Outcome(detail=f"{len(wheel.images)} files for {wheel.machine}", findings=tuple(findings))


def stripped(wheel: Wheel, policy: Policy) -> Outcome:
    """No symbol table for a linker, no debug information, no path to it."""
    findings = [
        f"{image.path} has {record}"
        for image in wheel.images
        for record in image.debug_records
        if not policy.stripped.accepts(image.file_name, record)
    ]
    return Outcome(detail="no symbol tables, no debug information", findings=tuple(findings))


def hardening(wheel: Wheel, _policy: Policy) -> Outcome:
    """No executable stack, no text relocations; on Windows, relocatable and without executable data."""
    findings = [f"{image.path} {weakness}" for image in wheel.images for weakness in image.weaknesses]
    return Outcome(detail="no executable stack, no text relocations", findings=tuple(findings))


def private_runtime(wheel: Wheel, policy: Policy) -> Outcome:
    """No library but the OpenMP runtime exports symbols of the C++ runtime: two that do overwrite each other's."""
    pattern = re.compile("|".join(policy.private_runtime.symbols))
    findings: list[str] = []
    count = 0
    for image in wheel.images:
        if matches(image.file_name, policy.openmp.runtimes):
            continue
        count += len(image.exports)
        leaked = sorted(symbol for symbol in image.exports if pattern.match(symbol))
        if leaked:
            findings.append(f"{image.path} exports {_some(leaked)}")
    return Outcome(detail=f"{count} exported symbols", findings=tuple(findings))


def interposition(wheel: Wheel, _policy: Policy) -> Outcome:
    """No library's own calls can land in another's equally named function, as they do once one is loaded RTLD_GLOBAL."""
    exporters = Counter(symbol for image in wheel.images for symbol in image.exports)
    findings: list[str] = []
    for image in wheel.images:
        taken = sorted(symbol for symbol in image.rebindable if exporters[symbol] > 1)
        if taken:
            findings.append(f"{image.path} lets other libraries replace its own {_some(taken)}; link it with -Bsymbolic")
    shared = sum(count > 1 for count in exporters.values())
    return Outcome(detail=f"{shared} names exported more than once", findings=tuple(findings))


def _some(symbols: list[str]) -> str:
    more = "" if len(symbols) <= SHOWN_SYMBOLS else f" and {len(symbols) - SHOWN_SYMBOLS} more"
    return f"{', '.join(symbols[:SHOWN_SYMBOLS])}{more}"


def build_paths(wheel: Wheel, policy: Policy) -> Outcome:
    """No file of the wheel, native or text, names a folder of a building machine."""
    sources = [*policy.build_paths.patterns, re.escape(f"{ROOT}/")]
    patterns = [re.compile(source.encode()) for source in sources]  # one by one: re is slow at alternatives
    findings = [finding for name in wheel.names for finding in _paths_in(wheel, policy, name, patterns)]
    return Outcome(detail=f"{len(wheel.names)} files searched", findings=tuple(findings))


def _paths_in(wheel: Wheel, policy: Policy, name: str, patterns: list[re.Pattern[bytes]]) -> Iterator[str]:
    accepted = [re.compile(entry.pattern) for entry in policy.build_paths.accepted if entry.file == name.rpartition("/")[2]]
    data = wheel.read(name)
    found = Counter(match[0].decode("utf-8", "replace") for pattern in patterns for match in pattern.finditer(data))
    for path, count in sorted(found.items()):
        if not any(entry.fullmatch(path) for entry in accepted):
            yield f"{name} contains {path}… {count} times" if count > 1 else f"{name} contains {path}…"
