"""What one run of the suite came to, read from pytest's JUnit report."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path


Extent: TypeAlias = Literal["whole", "short", "processor"]
"""How much of the suite: all of it, without what no Python version changes, or what shows that a processor computes right."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A test that failed or was skipped, and the first line of why."""

    test: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What ran: a wheel on a Python, with so much of the suite."""

    wheel: str
    python: str
    extent: Extent
    seconds: float


@dataclass(frozen=True, kw_only=True)
class ConformanceResult(Subject):
    """Counts of one wheel on one Python, with the reasons."""

    passed: int
    failed: int
    skipped: int
    failures: tuple[Outcome, ...] = ()
    skips: tuple[Outcome, ...] = ()

    @property
    def ok(self) -> bool:
        """True when something ran and nothing failed."""
        return self.failed == 0 and self.passed > 0


def in_brackets(extent: Extent) -> str:
    """` (short)`, to follow the name of a run; nothing for the whole suite."""
    return "" if extent == "whole" else f" ({extent})"


def verdict(report: Path, about: Subject, code: int) -> ConformanceResult:
    """What a run came to that ended with `code` and was to write `report`: without one, or against what it says, a failure."""
    result = read_report(report, about) if report.is_file() else crashed(about, code)
    return crashed(about, code) if code and result.ok else result


def crashed(about: Subject, code: int) -> ConformanceResult:
    """The result of a run that ended without a verdict: pytest itself died."""
    how = (
        f"was killed by signal {-code} in the test named last above"
        if code < 0
        else f"ended with {code} and no verdict: see its lines above"
    )
    outcome = Outcome(test="(the whole run)", reason=f"pytest {how}")
    return ConformanceResult(**asdict(about), passed=0, failed=1, skipped=0, failures=(outcome,))


def read_report(report: Path, about: Subject) -> ConformanceResult:
    """Parse `report`. A test that passed and then failed in its teardown counts as failed, once."""
    failures: dict[str, Outcome] = {}
    skips: dict[str, Outcome] = {}
    tests: set[str] = set()
    for case in ET.parse(report).getroot().iter("testcase"):  # noqa: S314 - our own pytest wrote it
        name = "::".join(part for part in (case.get("classname"), case.get("name")) if part)
        tests.add(name)
        for kind, into in (("failure", failures), ("error", failures), ("skipped", skips)):
            for element in case.iter(kind):
                into.setdefault(name, Outcome(test=name, reason=_first_line(element.get("message") or element.text or "")))
    skips = {name: outcome for name, outcome in skips.items() if name not in failures}
    return ConformanceResult(
        **asdict(about),
        passed=len(tests) - len(failures) - len(skips),
        failed=len(failures),
        skipped=len(skips),
        failures=tuple(failures.values()),
        skips=tuple(skips.values()),
    )


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
