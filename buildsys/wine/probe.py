"""The probe, compiled for either system, and what it answers about a folder of libraries."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from buildsys import toolchains
from buildsys.errors import ConformanceFailedError
from buildsys.matrix import select_one
from buildsys.process import run_logged
from buildsys.project import VENDOR, cache_dir, pin
from buildsys.wine.emulator import Ending, Wine, run_program, windows_path

SOURCE = Path(__file__).with_name("probe.c")
# The C compilers with which any Linux machine makes programs for either system.
TOOLCHAINS = {"windows": ("windows_amd64-cpu", "zig-windows", ".exe"), "linux": ("linux_x86_64-cpu", "zig", "")}
_CHOSEN = re.compile(r"loaded CPU backend from .*?([^\\/\s]+)\s*$", re.MULTILINE)


class ProbeFailedError(ConformanceFailedError):
    """A library doesn't open, or doesn't do what it is for."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One decoded token: its logit, by how much it leads, and its bytes."""

    token: int
    logit: float
    lead: float
    piece: bytes


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """The greedy continuation of a prompt, with the CPU variant that was chosen."""

    variant: str
    prompt: tuple[int, ...]
    steps: tuple[Step, ...]

    @property
    def tokens(self) -> tuple[int, ...]:
        """The tokens alone."""
        return tuple(step.token for step in self.steps)

    @property
    def text(self) -> str:
        """The tokens as text."""
        return b"".join(step.piece for step in self.steps).decode("utf-8", "replace")


@dataclass(frozen=True)
class Probe:
    """The probe for `system`: under wine for Windows, by itself for Linux."""

    system: str

    @cached_property
    def program(self) -> Path:
        """The compiled program."""
        row, toolchain, suffix = TOOLCHAINS[self.system]
        ready = toolchains.prepare(toolchain, select_one(row).target)
        key = hashlib.sha256("\n".join([pin().commit, ready.identity, SOURCE.read_text(encoding="utf-8")]).encode()).hexdigest()[:12]
        target = cache_dir() / "wine" / f"probe-{key}{suffix}"
        if not target.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            staging = target.with_suffix(f".part{suffix}")
            includes = [f"-I{VENDOR / folder}" for folder in ("include", "ggml/include")]
            command: list[str | Path] = [ready.defines["CMAKE_C_COMPILER"], "-O2", "-s", *includes, SOURCE, "-o", staging]
            run_logged(command, log=target.with_suffix(".log"), label=f"probe for {self.system}: compiling")
            shutil.move(staging, target)
        return target

    @cached_property
    def _wine(self) -> Wine | None:
        return Wine() if self.system == "windows" else None

    def library(self, name: str) -> str:
        """The file name of a library."""
        return f"{name}.dll" if self.system == "windows" else f"lib{name}.so"

    def run(self, folder: Path, *arguments: str | Path) -> Ending:
        """Run the program on `folder`, after the options among `arguments`; paths are translated."""
        options = [argument for argument in arguments[:1] if argument == "-d"]
        words = [*options, folder, *arguments[len(options) :]]
        if self._wine:
            return self._wine.run(self.program, *(windows_path(word) if isinstance(word, Path) else word for word in words))
        return run_program([str(self.program), *map(str, words)])

    def open(self, folder: Path, names: Sequence[str]) -> dict[str, int]:
        """Open the libraries `names` one after the other; the scores of those that have one, -1 for the others."""
        ended = self._succeed(self.run(folder, *map(self.library, names)))
        answers = [line.split() for line in ended.stdout.splitlines() if line.startswith("opened ")]
        return {name: int(score) for name, (_, _, score) in zip(names, answers, strict=True)}

    def decode(self, folder: Path, model: Path, prompt: str, n_tokens: int) -> Decoding:
        """Continue `prompt` greedily with the best CPU variant of `folder`."""
        ended = self._succeed(self.run(folder, "-d", self.library("ggml"), self.library("llama"), model, prompt, str(n_tokens)))
        return read_decoding(ended, self.library("ggml-cpu-{}"))

    def _succeed(self, ended: Ending) -> Ending:
        if ended.missing:
            need, by = ended.missing[0]
            raise ProbeFailedError(f"{by} needs {need}, which is not beside it", hint="`python -m buildsys audit` says what is missing")
        if ended.code:
            hint = "the wheel is unsound, or this processor lacks what it needs"
            raise ProbeFailedError(f"on {self.system} the probe ended with {ended.code}: {ended.complaint}", hint=hint)
        return ended


def read_decoding(ended: Ending, naming: str) -> Decoding:
    """What the probe wrote while decoding; `naming` is how the system calls a CPU variant's file."""
    prompt: list[int] = []
    steps: list[Step] = []
    for kind, *values in (line.split() for line in ended.stdout.splitlines() if line.strip()):
        if kind == "prompt":
            prompt.append(int(values[0]))
        elif kind == "token":
            token, logit, lead, *piece = values
            steps.append(Step(token=int(token), logit=float(logit), lead=float(lead), piece=bytes.fromhex("".join(piece))))
    chosen = _CHOSEN.search(ended.stderr)
    prefix, _, suffix = naming.partition("{}")
    variant = chosen[1].removeprefix(prefix).removesuffix(suffix) if chosen else ""
    return Decoding(variant=variant, prompt=tuple(prompt), steps=tuple(steps))
