"""`python -m buildsys audit`: audits wheels and prints a line per check."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec
from rich.console import Console
from rich.text import Text

from buildsys.audit.policy import POLICY_FILE, load_policy
from buildsys.audit.report import AuditReport
from buildsys.audit.runner import audit_wheel
from buildsys.errors import AuditFailedError
from buildsys.matrix.options import add_row_options, customised_rows

NAME = "audit"
HELP = "Check the packaging properties of finished wheels: one line per check, every finding, exit code 9 on any."
EXAMPLE = "python -m buildsys audit dist/*.whl"

_STYLES = {"ok   ": "green", "FAIL ": "bold red"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("wheels", nargs="+", type=Path, metavar="WHEEL", help="wheel files")
    parser.add_argument("--json", action="store_true", help="print the reports as a JSON list")
    parser.add_argument("--policy", type=Path, default=POLICY_FILE, metavar="FILE", help="another policy (default: the project's)")
    add_row_options(parser)


def run(args: argparse.Namespace) -> int:
    """Audit each wheel and print its report."""
    policy = load_policy(args.policy)
    reports = [audit_wheel(wheel, policy=policy, rows=customised_rows(args)) for wheel in args.wheels]
    if args.json:
        print(msgspec.json.format(msgspec.json.encode([report.as_json() for report in reports])).decode())
    else:
        for report in reports:
            print_report(report)
    return 0 if all(report.ok for report in reports) else AuditFailedError.exit_code


def print_report(report: AuditReport) -> None:
    """Print the report's lines to stdout, long ones unbroken, the verdicts coloured on a terminal."""
    console = Console(highlight=False)
    for line in report.lines():
        text = Text(line)
        if line[:5] in _STYLES:
            text.stylize(_STYLES[line[:5]], 0, 4)
        console.print(text, soft_wrap=True)
