"""What a build came to: the short report per wheel that ends `nox -s build_wheels`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from packaging.utils import parse_wheel_filename
from rich.console import Console

from buildsys.audit import AuditReport
from buildsys.matrix import BuildRow
from buildsys.pipeline.proof import Proof

_NAME_WIDTH = len("Python 3.10.10  ")


@dataclass(kw_only=True)
class Stopwatch:
    """Seconds per stage, in the order in which they ran."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time the block as the stage `name`."""
        started = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = time.monotonic() - started


@dataclass(frozen=True, kw_only=True)
class WheelReport:
    """One finished wheel and what was found out about it."""

    row: BuildRow
    wheel: Path
    native_cached: bool
    audit: AuditReport
    proof: Proof
    stopwatch: Stopwatch


def print_reports(reports: Sequence[WheelReport]) -> None:
    """A block per wheel, to stdout."""
    console = Console(highlight=False, soft_wrap=True)
    for report in reports:
        console.print()
        console.rule(report.row.identifier, align="left")
        for name, value in _lines(report):
            console.print(f"{name:<{_NAME_WIDTH}}{value}", markup=False)


def _lines(report: WheelReport) -> Iterator[tuple[str, str]]:
    tags = parse_wheel_filename(report.wheel.name)[3]
    yield "file", str(report.wheel)
    yield "size", f"{report.wheel.stat().st_size / 1e6:.2f} MB"
    yield "tag", ", ".join(sorted(str(tag) for tag in tags))
    yield "variants", f"{len(report.row.cpu_variants)}: {' '.join(report.row.cpu_variants)}"
    yield "audit", f"{sum(check.ok for check in report.audit.checks)} of {len(report.audit.checks)} checks ok"
    yield from report.proof.lines
    stages = ", ".join(f"{name} {seconds:.1f}" for name, seconds in report.stopwatch.seconds.items())
    yield "seconds", f"{stages}; native output {'from the cache' if report.native_cached else 'compiled'}"
    yield "it says", f"“{report.proof.sample}”"
