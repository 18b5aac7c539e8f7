"""The last stages: the wheel is audited, installed, put through the suite, and made to say something."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from buildsys import models
from buildsys.audit import AuditReport, audit_wheel
from buildsys.audit.command import print_report
from buildsys.conformance import ConformanceResult, run_conformance
from buildsys.conformance.environment import clean_variables, installed
from buildsys.conformance.interpreters import find_interpreters
from buildsys.conformance.results import in_brackets
from buildsys.conformance.runner import SUITE
from buildsys.errors import AuditFailedError, CommandFailedError, ConformanceFailedError, WheelError
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


@dataclass(frozen=True, kw_only=True)
class Proof:
    """What a wheel did where it was proved: lines for the report, and a text that it generated."""

    lines: tuple[tuple[str, str], ...]
    sample: str


def prove(row: BuildRow, wheel: Path, pythons: Sequence[str] | None) -> Proof:
    """Prove `wheel` as this machine can: itself, in an emulated system of the wheel's processor, or under wine.

    Raises:
        ConformanceFailedError: something failed.
        WheelError: this machine has no way to run such a wheel.
    """
    machines = {"amd64": "x86_64", "arm64": "aarch64"}
    here, machine = platform.system().lower().replace("darwin", "macos"), platform.machine().lower()
    if row.system == here and machines.get(row.machine, row.machine) == machines.get(machine, machine):
        return _prove_here(wheel, pythons)
    if here == "linux" and row.system == "linux":
        return _prove_in_system(row, wheel)
    if here == "linux" and row.system == "windows":
        return _prove_under_wine(wheel)
    raise WheelError(
        f"a wheel for {row.system} on {row.machine} cannot be run here", hint="add --no-conformance, and prove it on such a machine"
    )


def _prove_here(wheel: Path, pythons: Sequence[str] | None) -> Proof:
    """The conformance suite on every Python found, or on those named."""
    results = run_conformance([wheel], pythons=pythons)
    broken = [f"{result.python} ({result.failed} failed)" for result in results if not result.ok]
    if broken:
        hint = f"python -m buildsys conformance {wheel} -- -x --tb=long"
        raise ConformanceFailedError(f"{wheel.name} failed its suite on Python {', '.join(broken)}", hint=hint)
    return Proof(lines=tuple((f"Python {result.python}", _in_words(result)) for result in results), sample=sample(wheel, pythons))


def _prove_in_system(row: BuildRow, wheel: Path) -> Proof:
    """The suite in the Debian systems of the wheel's processor."""
    from buildsys.systems.command import print_results  # noqa: PLC0415 - for wheels of other processors only
    from buildsys.systems.runner import run_systems  # noqa: PLC0415
    from buildsys.systems.table import table  # noqa: PLC0415

    names = [system.name for system in table().system if system.machine == row.machine]
    results = run_systems(names, [wheel])
    print_results(results)
    if not all(result.ok for result in results):
        wrong = ", ".join(f"{result.system}: {result.verdict}" for result in results if not result.ok)
        raise ConformanceFailedError(f"{wheel.name} was not proved ({wrong})", hint="the lines above say why")
    lines = [(f"Python {result.python}", f"on {result.system}: {_in_words(result.suite)}") for result in results if result.suite]
    return Proof(lines=tuple(lines), sample=results[0].text)


def _prove_under_wine(wheel: Path) -> Proof:
    """Its libraries under wine, beside those of this machine's own wheel."""
    from buildsys.wine.runner import run_wine  # noqa: PLC0415 - for Windows wheels only

    proof = run_wine(wheel)
    lines = tuple(("wine", line) for line in proof.lines() if not line.startswith("it says"))
    if not proof.ok:
        raise ConformanceFailedError(f"{wheel.name} failed under wine", hint=f"python -m buildsys wine {wheel}")
    return Proof(lines=lines, sample=" ".join(proof.sample.split()))


def _in_words(result: ConformanceResult) -> str:
    counts = f"{result.passed} passed, {result.failed} failed, {result.skipped} skipped"
    return f"{counts} in {result.seconds:.0f} s{in_brackets(result.extent)}"


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
