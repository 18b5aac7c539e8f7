"""Runs the conformance suite against installed wheels, from a folder where the source tree can't be imported."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from buildsys.conformance import drivers
from buildsys.conformance.environment import Environment, clean_variables, installed
from buildsys.conformance.interpreters import Interpreter, find_interpreters
from buildsys.conformance.results import ConformanceResult, Extent, Subject, in_brackets, verdict
from buildsys.errors import WheelError
from buildsys.models import carried, environment
from buildsys.models.catalog import ModelMissingError
from buildsys.process import console
from buildsys.project import ROOT, VENDOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SUITE = ROOT / "conformance"
GUIDE = ROOT / "docs" / "guide"
ONCE_PER_WHEEL = "once_per_wheel"
EVERY_PROCESSOR = "every_processor"
_SELECTED: dict[Extent, str] = {
    "whole": "",
    "short": f"not {ONCE_PER_WHEEL}",
    "processor": f"{EVERY_PROCESSOR} and not {ONCE_PER_WHEEL}",
}
SUITE_MODELS = (
    "LLAMA_TEST_TRANSFORMER_MODEL",
    "LLAMA_TEST_SWA_MODEL",
    "LLAMA_TEST_EMBEDDING_MODEL",
    "LLAMA_TEST_SYNTH_LLAMA",
    "LLAMA_TEST_SYNTH_LFM2",
    "LLAMA_TEST_SYNTH_BERT",
    "LLAMA_TEST_SYNTH_MIXTURE",
    "LLAMA_TEST_SYNTH_T5",
    "LLAMA_TEST_SYNTH_LORA",
    "LLAMA_TEST_SYNTH_GEMMA3",
    "LLAMA_TEST_SYNTH_QWEN35",
    "LLAMA_TEST_SYNTH_MAMBA2",
    "LLAMA_TEST_SYNTH_RWKV7",
    "LLAMA_TEST_SYNTH_RANKER",
    "LLAMA_TEST_SYNTH_TEMPLATE_RANKER",
)
_CI_VARIABLES = ("CI", "GITHUB_ACTIONS")


def models_required() -> bool:
    """In a CI pipeline a model that isn't there is a failure, not a reason to skip."""
    stated = os.environ.get("LLAMA_TEST_REQUIRE_MODELS", "")
    return stated not in ("", "0") or any(os.environ.get(name, "").lower() in ("1", "true") for name in _CI_VARIABLES)


def suite_variables(wheel: Path, models: Mapping[str, str]) -> dict[str, str]:
    """Environment variables by which the suite learns what it tests and where its material lies."""
    return {
        **models,
        **drivers.variables(wheel),
        **{name: value for name, value in os.environ.items() if name.startswith("LLAMA_TEST_")},
        "LLAMA_TEST_WHEEL": str(wheel),
        "LLAMA_TEST_VENDOR": str(VENDOR),
        "LLAMA_TEST_GUIDE": str(GUIDE),
        "LLAMA_TEST_REQUIRE_MODELS": "1" if models_required() else "0",
        "GGML_NO_BACKTRACE": "1",
    }


@dataclass(frozen=True, kw_only=True)
class _Run:
    """One wheel on one Python."""

    wheel: Path
    interpreter: Interpreter
    extent: Extent
    variables: Mapping[str, str]
    pytest_args: Sequence[str]


def run_conformance(
    wheels: Sequence[Path], *, pythons: Sequence[str] | None = None, models: Path | None = None, pytest_args: Sequence[str] = ()
) -> list[ConformanceResult]:
    """Prove each wheel on each Python found (or on those named), the newest with the whole suite.

    On the other Pythons the tests marked `once_per_wheel` are deselected: what they prove is the same native code.
    `models` is a folder that `models export` made; without it the models come from the cache.
    """
    paths = [existing_wheel(wheel) for wheel in wheels]
    interpreters = find_interpreters(pythons)
    material = _carried(models) if models else environment(SUITE_MODELS, required=models_required())
    results = []
    for path in paths:
        with snapshot(path) as wheel:
            for interpreter in reversed(interpreters):
                extent: Extent = "whole" if interpreter is interpreters[-1] else "short"
                console.rule(f"conformance: {wheel.name} on Python {interpreter.release}{in_brackets(extent)}")
                variables = suite_variables(wheel, material)
                run = _Run(wheel=wheel, interpreter=interpreter, extent=extent, variables=variables, pytest_args=pytest_args)
                results.append(_prove(run))
    return results


def _carried(models: Path) -> dict[str, str]:
    """What the suite is handed of the folder `models`; in a pipeline it must have all."""
    found = carried.variables(models)
    absent = [name for name in SUITE_MODELS if name not in found and name not in os.environ]
    if absent and models_required():
        raise ModelMissingError(f"{models} lacks {', '.join(absent)}", hint="make it again with `python -m buildsys models export`")
    return {name: path for name, path in found.items() if name in SUITE_MODELS}


@contextmanager
def snapshot(wheel: Path) -> Iterator[Path]:
    """A copy of `wheel`, so that one and the same file is installed and examined though a build may replace it meanwhile."""
    with tempfile.TemporaryDirectory(prefix="conformance-wheel-") as folder:
        yield Path(shutil.copy2(wheel, folder))


def existing_wheel(wheel: Path) -> Path:
    """`wheel` as an absolute path; it must be there."""
    if not wheel.is_file():
        raise WheelError(f"{wheel} does not exist", hint="build it with `python -m buildsys build`, or correct the path")
    return wheel.resolve()


def _prove(run: _Run) -> ConformanceResult:
    with (
        tempfile.TemporaryDirectory(prefix="conformance-", ignore_cleanup_errors=True) as folder,
        installed(run.wheel, run.interpreter, SUITE / "requirements.txt") as made,
    ):
        return _run_pytest(run, made, Path(folder))


def pytest_command(python: PurePath, report: PurePath, *, extent: Extent, pytest_args: Sequence[str], suite: PurePath = SUITE) -> list[str]:
    """The suite as a command line; `suite` is its folder where the command will run.

    `-I` keeps the working directory, PYTHONPATH and the user's site-packages out on every Python; `-B` keeps the suite's folder clean.
    """
    selection = ["-m", _SELECTED[extent]] if _SELECTED[extent] else []
    return [
        *(str(python), "-I", "-B", "-m", "pytest", str(suite)),
        *("-c", str(suite / "pytest.ini"), "--rootdir", str(suite), "--import-mode=importlib", "-p", "no:cacheprovider"),
        *(f"--junitxml={report}", *selection, *pytest_args),
    ]


def _run_pytest(run: _Run, made: Environment, folder: Path) -> ConformanceResult:
    empty, report = folder / "empty", folder / "report.xml"
    empty.mkdir()
    command = pytest_command(made.python, report, extent=run.extent, pytest_args=run.pytest_args)
    started = time.monotonic()
    code = subprocess.run(command, cwd=empty, env=clean_variables(run.variables), stdin=subprocess.DEVNULL, check=False).returncode
    about = Subject(wheel=run.wheel.name, python=run.interpreter.release, extent=run.extent, seconds=time.monotonic() - started)
    return verdict(report, about, code)
