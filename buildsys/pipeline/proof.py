"""The last stages: the wheel is audited, installed, put through the suite, and made to say something."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from buildsys import models
from buildsys.audit import AuditReport, audit_wheel
from buildsys.audit.command import print_report
from buildsys.conformance import ConformanceResult, run_conformance
from buildsys.conformance.environment import clean_variables, installed
from buildsys.conformance.interpreters import find_interpreters
from buildsys.conformance.runner import SUITE
from buildsys.errors import AuditFailedError, CommandFailedError, ConformanceFailedError
from buildsys.matrix import BuildRow

SAMPLE_MODEL = "LLAMA_TEST_TRANSFORMER_MODEL"
SAMPLE_PROMPT = "The capital of France is"
_SAMPLE = """
import os, sys
from llama_cpp import Llama
with Llama(os.environ["SAMPLE_MODEL"], n_ctx=256, verbose=False) as llm:
    answer = llm(sys.argv[1], max_tokens=24, temperature=0.0, stop=["\\n"], echo=True)
print(answer["choices"][0]["text"])
"""


def audit(row: BuildRow, wheel: Path) -> AuditReport:
    """Audit `wheel` by what `row` states, printing a line per check.

    Raises:
        AuditFailedError: one of the checks failed.
    """
    report = audit_wheel(wheel, rows=[row])
    print_report(report)
    if not report.ok:
        failed = ", ".join(check.name for check in report.checks if not check.ok)
        raise AuditFailedError(f"{wheel.name} failed its audit: {failed}", hint="each finding stands above")
    return report


def prove(wheel: Path, pythons: Sequence[str] | None) -> list[ConformanceResult]:
    """Run the conformance suite on every Python found, or on those named.

    Raises:
        ConformanceFailedError: a test failed on one of them.
    """
    results = run_conformance([wheel], pythons=pythons)
    broken = [f"{result.python} ({result.failed} failed)" for result in results if not result.ok]
    if broken:
        hint = f"python -m buildsys conformance {wheel} -- -x --tb=long"
        raise ConformanceFailedError(f"{wheel.name} failed its suite on Python {', '.join(broken)}", hint=hint)
    return results


def sample(wheel: Path, pythons: Sequence[str] | None) -> str:
    """One line of text that the installed wheel generates, greedily."""
    with installed(wheel, find_interpreters(pythons)[-1], SUITE / "requirements.txt") as environment:
        return generate(environment.python, wheel.name)


def generate(python: Path, installed_name: str) -> str:
    """One line of text that `python` generates with what is installed for it.

    Raises:
        CommandFailedError: it generated nothing; the message has what it said instead.
    """
    variables = {"SAMPLE_MODEL": models.environment([SAMPLE_MODEL], required=True)[SAMPLE_MODEL]}
    command = [str(python), "-I", "-c", _SAMPLE, SAMPLE_PROMPT]
    result = subprocess.run(command, env=clean_variables(variables), check=False, capture_output=True, text=True)
    if result.returncode or not result.stdout.strip():
        hint = "install the wheel and run `python -m llama_cpp`"
        raise CommandFailedError(f"the installed {installed_name} generated nothing\n{result.stderr}", hint=hint)
    return " ".join(result.stdout.split())
