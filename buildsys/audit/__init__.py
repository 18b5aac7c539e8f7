"""The audit: what must hold of a wheel as a file. What holds once it is installed is the conformance suite's."""

from __future__ import annotations

from buildsys.audit.report import AuditReport, CheckResult
from buildsys.audit.runner import audit_wheel

__all__ = ["AuditReport", "CheckResult", "audit_wheel"]
