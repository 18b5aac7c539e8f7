"""Runs an installed wheel as older processors and compares its choice of CPU variant and its text with what is due."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from buildsys.conformance.environment import Environment, clean_variables, installed
from buildsys.conformance.interpreters import find_interpreters
from buildsys.conformance.runner import SUITE
from buildsys.dispatch.emulator import find_emulator
from buildsys.dispatch.processors import Processor, select
from buildsys.errors import ConformanceFailedError, WheelError
from buildsys.models import resolve
from buildsys.process import console

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROBE = Path(__file__).with_name("probe.py")
MODEL = "smollm2-135m-instruct"
# The model is sure of each token of its answer (the likeliest leads by 3 and more), so that rounding, which differs between
# variants, changes no text; and there are few tokens, because emulated vector instructions are slow.
PROMPT = "1, 2, 3, 4,"
N_TOKENS = 5
TIMEOUT = 900


class ProbeFailedError(ConformanceFailedError):
    """The wheel gave no text even on this machine's own processor."""


@dataclass(frozen=True, kw_only=True)
class DispatchResult:
    """What a wheel did as one processor. `fault` is empty when variant and text are right."""

    cpu: str
    expected: str
    chosen: str
    text: str
    seconds: float
    fault: str = ""

    @property
    def ok(self) -> bool:
        """Whether the right variant gave the right text."""
        return not self.fault


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the probe said, or how it ended instead."""

    variant: str = ""
    text: str = ""
    seconds: float
    fault: str = ""


def run_dispatch(wheel: Path, *, cpus: Sequence[str] | None = None, python: str | None = None) -> list[DispatchResult]:
    """Run `wheel` as each processor of the table (or as those named), on the newest Python or the one given."""
    chosen = select(cpus)
    emulator = find_emulator()
    if not wheel.is_file():
        raise WheelError(f"{wheel} does not exist", hint="build it with `python -m buildsys build`, or correct the path")
    model = _model()
    interpreter = find_interpreters([python] if python else None)[-1]
    with installed(wheel.resolve(), interpreter, SUITE / "requirements.txt") as environment:
        native = _ask(environment, model, ())
        if native.fault:
            raise ProbeFailedError(f"{wheel.name} gave no text on this processor: {native.fault}", hint="run the conformance suite first")
        console.print(f"this processor: {native.variant}, {native.text!r} in {native.seconds:.1f} s", markup=False)
        results = []
        for processor in chosen:
            with console.status(f"emulating {processor.model}"):
                answer = _ask(environment, model, (emulator, "-cpu", processor.model))
            results.append(judge(processor, answer, native.text))
            console.print(f"{processor.model}: {results[-1].fault or results[-1].chosen} in {answer.seconds:.1f} s", markup=False)
        return results


def judge(processor: Processor, answer: Answer, native_text: str) -> DispatchResult:
    """The result of one run: a crash, a wrong variant or another text is a fault."""
    fault = answer.fault
    if not fault and answer.variant != processor.variant:
        fault = f"chose {answer.variant}, not {processor.variant}"
    if not fault and answer.text != native_text:
        fault = f"wrote {answer.text!r}, where this processor writes {native_text!r}"
    return DispatchResult(
        cpu=processor.model, expected=processor.variant, chosen=answer.variant, text=answer.text, seconds=answer.seconds, fault=fault
    )


def _model() -> Path:
    return resolve([MODEL])[MODEL]


def _ask(environment: Environment, model: Path, prefix: Sequence[str]) -> Answer:
    command = [*prefix, str(environment.python), "-I", "-B", str(PROBE), str(model), PROMPT, str(N_TOKENS)]
    return ask(command, clean_variables({"GGML_NO_BACKTRACE": "1"}))


def ask(command: Sequence[str], variables: Mapping[str, str], *, timeout: float = TIMEOUT) -> Answer:
    """Run `command`, which must be the probe in some wrapping, with those environment variables."""
    started = time.monotonic()
    try:
        done = subprocess.run(
            command, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return Answer(seconds=timeout, fault=f"no text after {timeout:.0f} s")
    seconds = time.monotonic() - started
    if done.returncode:
        return Answer(seconds=seconds, fault=describe_end(done.returncode, done.stderr))
    try:
        answer = json.loads(done.stdout.splitlines()[-1])
        return Answer(seconds=seconds, variant=answer["variant"], text=answer["text"])
    except (ValueError, KeyError, IndexError):
        return Answer(seconds=seconds, fault=f"printed no result: {done.stdout[-200:]!r}")


def describe_end(code: int, stderr: str) -> str:
    """How a child ended, an illegal instruction by name: qemu passes the guest's signal on, or exits with 128 + its number."""
    number = -code if code < 0 else code - 128
    last = next((line.strip() for line in reversed(stderr.splitlines()) if line.strip()), "")
    if number == signal.SIGILL:
        return f"executed an illegal instruction ({last})"
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"ended with {code}: {last}"
    return f"was killed by {name} ({last})"
