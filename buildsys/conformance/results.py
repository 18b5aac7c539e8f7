"""What one run of the suite came to, read from pytest's JUnit report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A test that failed or was skipped, and the first line of why."""

    test: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class ConformanceResult:
    """Counts of one wheel on one Python; `complete` says whether the once-per-wheel tests were among them."""

    wheel: str
    python: str
    complete: bool
    passed: int
    failed: int
    skipped: int
    seconds: float
    failures: tuple[Outcome, ...] = ()
    skips: tuple[Outcome, ...] = ()

    @property
    def ok(self) -> bool:
        """True when something ran and nothing failed."""
        return self.failed == 0 and self.passed > 0


def crashed(*, wheel: str, python: str, complete: bool, seconds: float, code: int) -> ConformanceResult:
    """The result of a run that ended without a report: pytest itself died."""
    how = f"was killed by signal {-code}" if code < 0 else f"ended with {code} before it could report"
    outcome = Outcome(test="(the whole run)", reason=f"pytest {how}; the last test named above is the one that ran")
    return ConformanceResult(wheel=wheel, python=python, complete=complete, passed=0, failed=1, skipped=0, seconds=seconds, failures=(outcome,))


def read_report(report: Path, *, wheel: str, python: str, complete: bool, seconds: float) -> ConformanceResult:
    """Parse `report`. A test that passed and then failed in its teardown counts as failed, once."""
    failures: dict[str, Outcome] = {}
    skips: dict[str, Outcome] = {}
    tests: set[str] = set()
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = "::".join(part for part in (case.get("classname"), case.get("name")) if part)
        tests.add(name)
        for kind, into in (("failure", failures), ("error", failures), ("skipped", skips)):
            for element in case.iter(kind):
                into.setdefault(name, Outcome(test=name, reason=_first_line(element.get("message") or element.text or "")))
    skips = {name: outcome for name, outcome in skips.items() if name not in failures}
    return ConformanceResult(
        wheel=wheel,
        python=python,
        complete=complete,
        passed=len(tests) - len(failures) - len(skips),
        failed=len(failures),
        skipped=len(skips),
        seconds=seconds,
        failures=tuple(failures.values()),
        skips=tuple(skips.values()),
    )


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
