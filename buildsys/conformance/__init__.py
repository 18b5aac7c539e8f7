"""Proving wheels: environments for each Python that is here, the conformance suite run in them, and its counts."""

from buildsys.conformance.results import ConformanceResult, Outcome
from buildsys.conformance.runner import run_conformance

__all__ = ["ConformanceResult", "Outcome", "run_conformance"]
