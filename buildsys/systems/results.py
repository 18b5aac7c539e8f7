"""What became of a wheel on one system."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from buildsys.conformance.results import ConformanceResult
    from buildsys.dispatch.runner import DispatchResult


@dataclass(frozen=True, kw_only=True)
class SystemResult:
    """A wheel on one system.

    `faults` are the wheel's. `obstacle` says why the wheel was not proved at all, which is none of its faults. `text` is what it
    wrote for the probe's prompt, `suite` the conformance suite's result, `processors` those of emulated processors.
    """

    system: str
    machine: str
    wheel: str = ""
    glibc: str = ""
    python: str = ""
    variant: str = ""
    text: str = ""
    suite: ConformanceResult | None = None
    processors: tuple[DispatchResult, ...] = ()
    notes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    obstacle: str = ""

    @property
    def ok(self) -> bool:
        """Whether the wheel was proved there and nothing failed."""
        return not self.obstacle and not self.faults and self.suite is not None and self.suite.ok

    @property
    def verdict(self) -> str:
        """One word for the table."""
        if self.obstacle:
            return "not proved"
        return "ok" if self.ok else "FAILED"


def with_texts_compared(results: Sequence[SystemResult]) -> list[SystemResult]:
    """The results, each text that differs from that of the first system a fault: no glibc may change what a model says."""
    first = next((result for result in results if result.text), None)
    if first is None:
        return list(results)
    return [_compared(result, first) for result in results]


def _compared(result: SystemResult, first: SystemResult) -> SystemResult:
    if not result.text or result.text == first.text:
        return result
    return replace(result, faults=(*result.faults, f"wrote {result.text!r}, where {first.system} writes {first.text!r}"))
