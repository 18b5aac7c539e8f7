"""The proof of a Windows wheel: each CPU variant decodes under wine what the Linux wheel's same variant decodes here."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from buildsys import models
from buildsys.audit.policy import load_policy, matches
from buildsys.errors import WheelError
from buildsys.matrix import BuildRow, rows
from buildsys.matrix.wheels import row_of_wheel
from buildsys.process import console
from buildsys.project import DIST
from buildsys.wine.probe import Decoding, Probe, ProbeFailedError

# The variant that is missing in the folder that backends are loaded from, and why.
LEFT_OUT = {"sapphirerapids": "wine does not enable the AMX state, so the first AMX instruction is an illegal one"}
# Both sides run the same kernels; what differs is the C library's mathematics, in the last bits of a logit.
TOLERANCE = 1e-3


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model and what it is asked to continue; `every_variant`, if it is small enough to be asked that often."""

    model: str
    prompt: str
    n_tokens: int
    every_variant: bool = False


CASES = (
    Case(model="synthetic-llama", prompt="a b c", n_tokens=16, every_variant=True),
    Case(model="synthetic-lfm2", prompt="a b c", n_tokens=16),
    Case(model="smollm2-135m-instruct", prompt="The capital of France is", n_tokens=16),
)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One continuation on both systems. `fault` is empty when they agree."""

    model: str
    windows: Decoding
    linux: Decoding

    @property
    def difference(self) -> float:
        """The largest difference between the logits of the same token at the same place."""
        pairs = zip(self.windows.steps, self.linux.steps, strict=False)
        return max((abs(one.logit - other.logit) for one, other in pairs if one.token == other.token), default=0.0)

    @property
    def fault(self) -> str:
        """What is wrong, in words."""
        if self.windows.variant != self.linux.variant:
            return f"chose {self.windows.variant or 'no variant'}, where Linux chooses {self.linux.variant}"
        if self.windows.prompt != self.linux.prompt:
            return f"made {self.windows.prompt} of the prompt, where Linux makes {self.linux.prompt}"
        if self.windows.tokens != self.linux.tokens:
            return f"continued with {self.windows.tokens}, where Linux continues with {self.linux.tokens}"
        if self.difference > TOLERANCE:
            return f"differs from Linux by {self.difference:.2g} in a logit"
        return ""

    @property
    def verdict(self) -> str:
        """The fault, or what was found to agree."""
        return self.fault or f"{len(self.windows.tokens)} tokens as on Linux, logits within {self.difference:.1e}"


@dataclass(frozen=True, kw_only=True)
class WineProof:
    """What a Windows wheel did under wine.

    Attributes:
        scores: what each CPU variant says of this processor; -1 for libraries that are no variant.
        refusal: what happened without the OpenMP runtime.
        comparisons: every continuation, the variants of the small model last.
    """

    wheel: Path
    reference: Path
    scores: dict[str, int]
    refusal: str
    comparisons: tuple[Comparison, ...]

    @property
    def ok(self) -> bool:
        """Whether all continuations agree."""
        return not any(comparison.fault for comparison in self.comparisons)

    @property
    def chosen(self) -> str:
        """The variant that was chosen out of all."""
        return self.comparisons[0].windows.variant

    @property
    def sample(self) -> str:
        """The text of the last case, prompt included, in one line."""
        case, comparison = CASES[-1], self.comparisons[len(CASES) - 1]
        return " ".join(f"{case.prompt}{comparison.windows.text}".split())

    def lines(self) -> Iterator[str]:
        """The report, a line per fact."""
        variants = {name.removeprefix("ggml-cpu-"): score for name, score in self.scores.items() if name.startswith("ggml-cpu-")}
        yield f"libraries  {len(self.scores)} opened, {len(variants)} of them CPU variants"
        yield f"chosen     {self.chosen}"
        lacking = [variant for variant, score in variants.items() if score == 0]
        if lacking:
            yield f"not run    {' '.join(lacking)}: this processor lacks what they need"
        for variant in (variant for variant in LEFT_OUT if variant not in lacking):
            yield f"not run    {variant}: {LEFT_OUT[variant]}"
        for comparison in self.comparisons:
            state = "FAIL" if comparison.fault else "ok  "
            yield f"{state}       {comparison.model} on {comparison.windows.variant}: {comparison.verdict}"
        yield f"without    the OpenMP runtime: {self.refusal}"
        yield f"it says    “{self.sample}”"


def run_wine(wheel: Path, *, reference: Path | None = None) -> WineProof:
    """Prove `wheel` under wine, beside the Linux wheel `reference` (default: the newest in `dist/`).

    Raises:
        WheelError: one of the two is missing, or is for another system.
        ProbeFailedError: a library doesn't open or doesn't work.
    """
    row = _row(wheel, "windows")
    other = reference or _newest_linux_wheel()
    _row(other, "linux")
    probes = Probe("windows"), Probe("linux")
    with tempfile.TemporaryDirectory(prefix="wine-") as temporary:
        whole = _extract(wheel, Path(temporary, "whole"))
        names = [*load_policy().system["windows"].libraries, *(f"ggml-cpu-{variant}" for variant in row.cpu_variants)]
        scores = probes[0].open(whole, names)
        sides = [_Side(probe, _extract(path, Path(temporary, probe.system))) for probe, path in zip(probes, (wheel, other), strict=True)]
        for side in sides:
            side.leave_out(LEFT_OUT)
        comparisons = [_compare(sides, case) for case in CASES]
        usable = [variant for variant in row.cpu_variants if scores[f"ggml-cpu-{variant}"] > 0 and variant not in LEFT_OUT]
        for case in (case for case in CASES if case.every_variant):
            comparisons += [_compare([side.with_only(variant) for side in sides], case) for variant in usable]
        refusal = _without_openmp(probes[0], whole)
    return WineProof(wheel=wheel, reference=other, scores=scores, refusal=refusal, comparisons=tuple(comparisons))


@dataclass(frozen=True)
class _Side:
    """One of the two systems with a folder of libraries."""

    probe: Probe
    folder: Path

    def leave_out(self, variants: Iterable[str]) -> None:
        for variant in variants:
            (self.folder / self.probe.library(f"ggml-cpu-{variant}")).unlink(missing_ok=True)

    def with_only(self, variant: str) -> _Side:
        alone = self.folder.with_name(f"{self.folder.name}-{variant}")
        alone.mkdir()
        wanted = self.probe.library(f"ggml-cpu-{variant}")
        for file in self.folder.iterdir():
            if "ggml-cpu-" not in file.name or file.name == wanted:
                (alone / file.name).hardlink_to(file)
        return _Side(self.probe, alone)


def _compare(sides: Sequence[_Side], case: Case) -> Comparison:
    model = models.resolve([case.model])[case.model]
    with console.status(f"{case.model} under wine"):
        windows, linux = (side.probe.decode(side.folder, model, case.prompt, case.n_tokens) for side in sides)
    comparison = Comparison(model=case.model, windows=windows, linux=linux)
    console.print(f"{case.model} on {windows.variant}: {comparison.verdict}", markup=False)
    return comparison


def _without_openmp(windows: Probe, folder: Path) -> str:
    """Take the OpenMP runtime away and see that the loader names it; what it says is returned."""
    runtimes = [file for file in folder.iterdir() if matches(file.name, load_policy().openmp.runtimes)]
    for file in runtimes:
        file.unlink()
    ended = windows.run(folder, windows.library("ggml-base"))
    named = [f"{by} needs {need}" for need, by in ended.missing if any(need.lower() == file.name.lower() for file in runtimes)]
    if ended.code == 0 or not named:
        raise ProbeFailedError("without its OpenMP runtime the wheel still opens, or does not say what is missing", hint=ended.complaint)
    return named[0]


def _extract(wheel: Path, folder: Path) -> Path:
    """Put the wheel's libraries into `folder`."""
    prefix = f"{load_policy().contents.library_folder}/"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(prefix) and PurePosixPath(name).suffix in {".dll", ".so"}:
                (folder / PurePosixPath(name).name).write_bytes(archive.read(name))
    return folder


def _row(wheel: Path, system: str) -> BuildRow:
    if not wheel.is_file():
        raise WheelError(f"{wheel} does not exist", hint="build it with `python -m buildsys build`, or correct the path")
    row = row_of_wheel(wheel, rows())
    if row.system != system:
        raise WheelError(f"{wheel.name} is a wheel for {row.system}, not for {system}", hint="name the other one")
    return row


def _newest_linux_wheel() -> Path:
    found: Sequence[Path] = sorted(DIST.glob("*-manylinux*_x86_64.whl"), key=lambda path: path.stat().st_mtime)
    plain = [path for path in found if "+" not in path.name]
    if not plain:
        raise WheelError("dist/ has no Linux wheel to compare with", hint="python -m buildsys build linux_x86_64-cpu, or use --reference")
    return plain[-1]
