"""What an audit found: one result per check, as values, as text lines and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one check says: a short fact about the wheel, and everything that is wrong."""

    detail: str
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """The outcome of the check called `name`."""

    name: str
    detail: str
    findings: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Nothing was found."""
        return not self.findings


@dataclass(frozen=True, kw_only=True)
class AuditReport:
    """All checks of one wheel, in the order of the table of checks."""

    wheel: Path
    checks: tuple[CheckResult, ...]

    @property
    def ok(self) -> bool:
        """Every check passed."""
        return all(check.ok for check in self.checks)

    @property
    def failed(self) -> tuple[CheckResult, ...]:
        """The checks that found something."""
        return tuple(check for check in self.checks if not check.ok)

    @property
    def summary(self) -> str:
        """The last line of the report."""
        if self.ok:
            return f"{self.wheel.name}: all {len(self.checks)} checks passed"
        names = ", ".join(check.name for check in self.failed)
        return f"{self.wheel.name}: {len(self.failed)} of {len(self.checks)} checks failed: {names}"

    def lines(self) -> Iterator[str]:
        """One aligned line per check, each finding on a line of its own below, and the summary."""
        width = max((len(check.name) for check in self.checks), default=0)
        for check in self.checks:
            yield f"{'ok' if check.ok else 'FAIL':<5}{check.name:<{width}}  {check.detail}"
            yield from (f"       - {finding}" for finding in check.findings)
        yield self.summary

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        checks = [{"name": check.name, "ok": check.ok, "detail": check.detail, "findings": list(check.findings)} for check in self.checks]
        return {"wheel": str(self.wheel), "ok": self.ok, "checks": checks}
