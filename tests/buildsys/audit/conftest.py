"""Fixtures of the audit's tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from buildsys.audit import AuditReport, audit_wheel
from buildsys.audit.checks import architectures, conventions, platform_tag

from .recipes import ROWS, Recipe, fake_device_code

Audit = Callable[[Recipe], AuditReport]


@pytest.fixture
def audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Audit:
    """Writes a recipe and audits it, other programs included but cuobjdump, as a recipe has no GPU code that it could read."""
    monkeypatch.setattr(architectures, "device_code", fake_device_code)
    return lambda recipe: audit_wheel(recipe.write(tmp_path), rows=ROWS)


@pytest.fixture
def quick_audit(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> Audit:
    """As `audit`, with what auditwheel and check-wheel-contents say of a sound wheel taken for granted."""
    monkeypatch.setattr(platform_tag, "earned_tag", lambda *_, **__: "manylinux_2_17_x86_64")
    monkeypatch.setattr(conventions, "linter_findings", lambda *_: ())
    return audit
