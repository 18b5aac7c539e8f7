"""Runs the conformance suite against installed wheels, from a folder where the source tree can't be imported."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from buildsys.conformance.environment import Environment, clean_variables, installed
from buildsys.conformance.interpreters import Interpreter, find_interpreters
from buildsys.conformance.results import ConformanceResult, crashed, read_report
from buildsys.errors import WheelError
from buildsys.process import console
from buildsys.project import ROOT, VENDOR

SUITE = ROOT / "conformance"
ONCE_PER_WHEEL = "once_per_wheel"
_CI_VARIABLES = ("CI", "GITHUB_ACTIONS")


def models_required() -> bool:
    """In a CI pipeline a model that isn't there is a failure, not a reason to skip."""
    stated = os.environ.get("LLAMA_TEST_REQUIRE_MODELS", "")
    return stated not in ("", "0") or any(os.environ.get(name, "").lower() in ("1", "true") for name in _CI_VARIABLES)


def suite_variables(wheel: Path, models: Mapping[str, str]) -> dict[str, str]:
    """Environment variables by which the suite learns what it tests and where its material lies."""
    return {
        **models,
        **{name: value for name, value in os.environ.items() if name.startswith("LLAMA_TEST_")},
        "LLAMA_TEST_WHEEL": str(wheel),
        "LLAMA_TEST_VENDOR": str(VENDOR),
        "LLAMA_TEST_REQUIRE_MODELS": "1" if models_required() else "0",
        "GGML_NO_BACKTRACE": "1",
    }


def run_conformance(
    wheels: Sequence[Path], *, pythons: Sequence[str] | None = None, pytest_args: Sequence[str] = ()
) -> list[ConformanceResult]:
    """Prove each wheel on each Python found (or on those named), the newest with the whole suite.

    On the other Pythons the tests marked `once_per_wheel` are deselected: what they prove is the same native code.
    """
    paths = [_existing(wheel) for wheel in wheels]
    interpreters = find_interpreters(pythons)
    models = _model_variables()
    results = []
    for wheel in paths:
        for interpreter in reversed(interpreters):
            complete = interpreter is interpreters[-1]
            console.rule(f"conformance: {wheel.name} on Python {interpreter.release}{'' if complete else ' (short)'}")
            results.append(_prove(wheel, interpreter, complete, models, pytest_args))
    return results


def _existing(wheel: Path) -> Path:
    if not wheel.is_file():
        raise WheelError(f"{wheel} does not exist", hint="build it with `python -m buildsys build`, or correct the path")
    return wheel.resolve()


def _model_variables() -> dict[str, str]:
    from buildsys.models import environment

    return dict(environment())


def _prove(
    wheel: Path, interpreter: Interpreter, complete: bool, models: Mapping[str, str], pytest_args: Sequence[str]
) -> ConformanceResult:
    with (
        tempfile.TemporaryDirectory(prefix="conformance-", ignore_cleanup_errors=True) as folder,
        installed(wheel, interpreter, SUITE / "requirements.txt") as environment,
    ):
        return _run_pytest(environment, wheel, Path(folder), complete, suite_variables(wheel, models), pytest_args)


def pytest_command(environment: Environment, report: Path, *, complete: bool, pytest_args: Sequence[str]) -> list[str]:
    """`-I` keeps the working directory, PYTHONPATH and the user's site-packages out on every Python; `-B` keeps the suite's folder clean."""
    selection = [] if complete else ["-m", f"not {ONCE_PER_WHEEL}"]
    return [
        *(str(environment.python), "-I", "-B", "-m", "pytest", str(SUITE)),
        *("-c", str(SUITE / "pytest.ini"), "--rootdir", str(SUITE), "--import-mode=importlib", "-p", "no:cacheprovider"),
        *(f"--junitxml={report}", *selection, *pytest_args),
    ]


def _run_pytest(
    environment: Environment, wheel: Path, folder: Path, complete: bool, variables: Mapping[str, str], pytest_args: Sequence[str]
) -> ConformanceResult:
    empty, report = folder / "empty", folder / "report.xml"
    empty.mkdir()
    command = pytest_command(environment, report, complete=complete, pytest_args=pytest_args)
    started = time.monotonic()
    code = subprocess.run(command, cwd=empty, env=clean_variables(variables), stdin=subprocess.DEVNULL, check=False).returncode
    seconds = time.monotonic() - started
    release = environment.interpreter.release
    if not report.is_file():
        return crashed(wheel=wheel.name, python=release, complete=complete, seconds=seconds, code=code)
    result = read_report(report, wheel=wheel.name, python=release, complete=complete, seconds=seconds)
    if code and result.ok:
        return crashed(wheel=wheel.name, python=release, complete=complete, seconds=seconds, code=code)
    return result
