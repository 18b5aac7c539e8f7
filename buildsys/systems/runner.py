"""Proves wheels on systems: for each a root, an environment in it, a first text, the conformance suite, and what else its row asks."""

from __future__ import annotations

import subprocess
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from buildsys.conformance.environment import EnvironmentSetupError, clean_variables
from buildsys.conformance.results import ConformanceResult, Subject, verdict
from buildsys.conformance.runner import SUITE, SUITE_MODELS, existing_wheel, models_required, pytest_command, snapshot, suite_variables
from buildsys.dispatch.runner import MODEL, N_TOKENS, PROBE, PROMPT, TIMEOUT, Answer, DispatchResult, ask, judge
from buildsys.errors import BuildError, DownloadError, ToolchainError
from buildsys.matrix import rows
from buildsys.matrix.wheels import row_of_wheel
from buildsys.models import environment, resolve
from buildsys.process import console
from buildsys.systems import refusal, root
from buildsys.systems.chamber import HOME, Chamber, Mount, carried_in
from buildsys.systems.environment import PYTHON, Facts, installed, look
from buildsys.systems.host import is_foreign, prepare
from buildsys.systems.results import SystemResult, with_texts_compared
from buildsys.systems.table import select, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from buildsys.systems.table import System

TEST_SECONDS = 300  # what the suite's own configuration gives a test
_REPORT = HOME / "report"
_SUITE = HOME / "suite"
_PROBE = HOME / "probe"


@dataclass(frozen=True, kw_only=True)
class Order:
    """What to do on every system; `mirror` goes before that of the table, `models` are the suite's by their variables."""

    mirror: str
    fresh: bool
    models: Mapping[str, str]
    pytest_args: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class _Proof:
    """A wheel that is installed in a root: `chamber` has the environment, read-only."""

    system: System
    wheel: Path
    facts: Facts
    chamber: Chamber
    order: Order


def run_systems(
    names: Sequence[str], wheels: Sequence[Path], *, mirror: str = "", fresh: bool = False, pytest_args: Sequence[str] = ()
) -> list[SystemResult]:
    """Prove on each system named (on all without names) those of `wheels` that are made for its machine."""
    systems = select(names)
    given = [existing_wheel(wheel) for wheel in wheels]
    models = environment(SUITE_MODELS, required=models_required())
    order = Order(mirror=mirror, fresh=fresh, models=models, pytest_args=pytest_args)
    results = []
    for system in systems:
        suitable = [wheel for wheel in given if _suits(wheel, system)]
        if not suitable:
            obstacle = f"no Linux wheel for {system.machine} is there: build one, or name it with --wheel"
            results.append(SystemResult(system=system.name, machine=system.machine, obstacle=obstacle))
        for wheel in suitable:
            console.rule(f"system: {wheel.name} on {system.name}")
            with snapshot(wheel) as copy:
                results.append(prove(system, copy, order))
    return with_texts_compared(results)


def _suits(wheel: Path, system: System) -> bool:
    row = row_of_wheel(wheel, rows())
    return (row.system, row.machine) == ("linux", system.machine)


def prove(system: System, wheel: Path, order: Order) -> SystemResult:
    """Prove `wheel` on `system`; what keeps it from being proved is said in the result, like the wheel's faults."""
    result = SystemResult(system=system.name, machine=system.machine, wheel=wheel.name)
    try:
        host = prepare(system)
        mirror = (order.mirror or system.mirror or table().mirror).rstrip("/")
        with root.reserved(system, host, mirror=mirror, fresh=order.fresh) as made:
            empty = Chamber(program=host.bubblewrap, root=made.tree)
            facts = look(empty, system.interpreter)
            result = replace(result, glibc=facts.glibc, python=facts.release)
            if surprise := _surprise(system, facts):
                return replace(result, obstacle=surprise)
            chamber = installed(empty, made, facts, wheel, interpreter=system.interpreter, requirements=SUITE / "requirements.txt")
            proof = _Proof(system=system, wheel=wheel, facts=facts, chamber=chamber, order=order)
            return _examined(proof, empty, result)
    except EnvironmentSetupError as error:
        return replace(result, faults=(error.message,))
    except (DownloadError, ToolchainError) as error:
        return replace(result, obstacle=_in_words(error))


def _in_words(error: BuildError) -> str:
    return f"{error.message}\n  next: {error.hint}" if error.hint else error.message


def _surprise(system: System, facts: Facts) -> str:
    """How the root differs from what the table says of it."""
    stated = {"glibc": system.glibc, "version": system.python, "machine": system.machine}
    wrong = [f"{name} {getattr(facts, name)}, not {value}" for name, value in stated.items() if value and getattr(facts, name) != value]
    return f"the root has {', '.join(wrong)}: correct buildsys/systems.toml, or make it anew with --fresh" if wrong else ""


def _examined(proof: _Proof, empty: Chamber, result: SystemResult) -> SystemResult:
    first = _speak(proof, {})
    faults = [f"gave no text: {first.fault}"] if first.fault else []
    notes: list[str] = []
    if proof.system.refused_python:
        refused = refusal.check(empty, proof.wheel, proof.system.refused_python)
        (faults if refused.fault else notes).append(refused.fault or refused.said)
    processors = _on_processors(proof, first.text) if not first.fault else ()
    faults += [f"as {each.cpu}: {each.fault}" for each in processors if each.fault]
    suite = _run_suite(proof)
    return replace(
        result, variant=first.variant, text=first.text, suite=suite, processors=processors, notes=tuple(notes), faults=tuple(faults)
    )


def _speak(proof: _Proof, variables: Mapping[str, str]) -> Answer:
    """Run the probe inside: which variant is chosen, and what the model says."""
    model = resolve([MODEL])[MODEL]
    chamber = proof.chamber.with_mounts(
        Mount(outside=PROBE, inside=_PROBE / PROBE.name), Mount(outside=model, inside=_PROBE / "model" / model.name)
    )
    words = [str(PYTHON), "-I", "-B", str(_PROBE / PROBE.name), str(_PROBE / "model" / model.name), PROMPT, str(N_TOKENS)]
    return ask(
        chamber.command(words, variables={"GGML_NO_BACKTRACE": "1", **variables}),
        clean_variables(),
        timeout=TIMEOUT * proof.system.patience,
    )


def _on_processors(proof: _Proof, text: str) -> tuple[DispatchResult, ...]:
    if not is_foreign(proof.system):
        return ()
    results = []
    for processor in proof.system.processors:
        results.append(judge(processor, _speak(proof, {"QEMU_CPU": processor.model}), text))
        console.print(f"{processor.model}: {results[-1].fault or results[-1].chosen} in {results[-1].seconds:.1f} s", markup=False)
    return tuple(results)


def _run_suite(proof: _Proof) -> ConformanceResult:
    system = proof.system
    patience = str(system.patience)
    mounts, variables = carried_in({"LLAMA_TEST_PATIENCE": patience, **suite_variables(proof.wheel, proof.order.models)})
    with _report_folder() as folder:
        chamber = proof.chamber.with_mounts(
            Mount(outside=SUITE, inside=_SUITE), Mount(outside=folder, inside=_REPORT, writable=True), *mounts
        )
        command = pytest_command(
            PurePosixPath(PYTHON),
            _REPORT / "report.xml",
            extent=system.extent,
            pytest_args=[f"--timeout={TEST_SECONDS * system.patience}", *proof.order.pytest_args],
            suite=_SUITE,
        )
        started = time.monotonic()
        code = subprocess.run(
            chamber.command(command, variables=variables), env=clean_variables(), stdin=subprocess.DEVNULL, check=False
        ).returncode
        about = Subject(wheel=proof.wheel.name, python=proof.facts.release, extent=system.extent, seconds=time.monotonic() - started)
        return verdict(folder / "report.xml", about, code)


@contextmanager
def _report_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="systems-") as folder:
        yield Path(folder)
