"""Proving wheels on old and new systems: Debian roots made with debootstrap, and the conformance suite run inside them."""

from buildsys.systems.results import SystemResult
from buildsys.systems.runner import run_systems

__all__ = ["SystemResult", "run_systems"]
