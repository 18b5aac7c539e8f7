"""Runs every check on one wheel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from buildsys.audit.checks import CHECKS, Check
from buildsys.audit.policy import Policy, load_policy
from buildsys.audit.report import AuditReport, CheckResult, Outcome
from buildsys.audit.wheel import CORRUPT_ARCHIVE, Wheel, open_wheel
from buildsys.errors import CommandFailedError
from buildsys.matrix import BuildRow
from buildsys.matrix import rows as matrix_rows


def audit_wheel(
    path: Path,
    *,
    policy: Policy | None = None,
    rows: Sequence[BuildRow] | None = None,
    checks: Mapping[str, Check] = CHECKS,
) -> AuditReport:
    """Audit the wheel at `path`; nothing is changed or executed.

    `policy` and `rows` default to what the repository states.

    Raises:
        WheelError: `path` is not a wheel, or no row of the build matrix makes such a wheel.
    """
    policy = load_policy() if policy is None else policy
    with open_wheel(path, matrix_rows() if rows is None else rows) as wheel:
        results = []
        for name, check in checks.items():
            outcome = _run(check, wheel, policy)
            results.append(CheckResult(name=name, detail=outcome.detail, findings=outcome.findings))
        return AuditReport(wheel=path, checks=tuple(results))


def _run(check: Check, wheel: Wheel, policy: Policy) -> Outcome:
    """A check that a damaged wheel keeps from running has failed."""
    try:
        return check(wheel, policy)
    except KeyError as error:
        return Outcome(detail="not checked", findings=(f"a file is missing: {error.args[0]}",))
    except (*CORRUPT_ARCHIVE, UnicodeDecodeError, SyntaxError, ValueError) as error:
        return Outcome(detail="not checked", findings=(f"a file cannot be read: {error}",))
    except CommandFailedError as error:
        return Outcome(detail="not checked", findings=(error.message,))
