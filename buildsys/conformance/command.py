"""`python -m buildsys conformance`: proves wheels on every Python found and prints the counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from buildsys.conformance.runner import run_conformance
from buildsys.errors import ConformanceFailedError, WheelError
from buildsys.matrix.wheels import built_for
from buildsys.toolkits.request import this_system

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from buildsys.conformance.results import ConformanceResult

NAME = "conformance"
HELP = "Install wheels into clean environments and run the conformance suite on each Python found."
EXAMPLE = "python -m buildsys conformance --python 3.12 dist/*.whl -- -k tokenizer -x"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument(
        "items",
        nargs="*",
        metavar="WHEEL",
        help="wheel files, after all options (default: those in dist/ for this machine); what follows `--` goes to pytest",
    )
    parser.add_argument(
        "--python", action="append", metavar="X.Y", help="a version or an interpreter's path; repeatable (default: all of 3.10-3.14 found)"
    )
    parser.add_argument(
        "--models",
        type=Path,
        metavar="DIR",
        help="take the models from this folder of `models export`, and from nowhere else (default: from the cache, fetched if need be)",
    )


def split_items(items: Sequence[str]) -> tuple[list[Path], list[str]]:
    """The leading wheel files, and the rest, which is pytest's; without items, the wheels that were built for this machine."""
    if not items:
        return built_for(this_system()), []
    count = next((index for index, item in enumerate(items) if not item.endswith(".whl")), len(items))
    if count == 0:
        raise WheelError(f"{items[0]!r} is not a wheel file", hint="name a .whl file first; options of pytest follow `--`")
    return [Path(item) for item in items[:count]], [item for item in items[count:] if item != "--"]


def run(args: argparse.Namespace) -> int:
    """Prove the wheels; the exit code says whether all held."""
    wheels, pytest_args = split_items(args.items)
    results = run_conformance(wheels, pythons=args.python, models=args.models, pytest_args=pytest_args)
    print_results(results)
    broken = [result for result in results if not result.ok]
    if broken:
        where = ", ".join(f"{result.wheel} on Python {result.python}" for result in broken)
        raise ConformanceFailedError(f"the suite failed: {where}", hint="run one test again with `-- -k NAME -x --tb=long`")
    return 0


def print_results(results: Sequence[ConformanceResult]) -> None:
    """A table per wheel, then each failure and each reason for which tests were skipped."""
    out = Console(soft_wrap=True, highlight=False)
    for wheel in dict.fromkeys(result.wheel for result in results):
        out.print(wheel)
        table = Table("Python", "suite", "passed", "failed", "skipped", "seconds", box=None)
        for result in results:
            if result.wheel == wheel:
                counts = (result.passed, result.failed, result.skipped)
                table.add_row(result.python, result.extent, *map(str, counts), f"{result.seconds:.1f}")
        out.print(table)
    for result in results:
        for failure in result.failures:
            out.print(f"failed on {result.python}: {failure.test}: {failure.reason}", markup=False)
    for reason, count in skip_reasons(results).items():
        out.print(f"skipped {count}: {reason}", markup=False)


def skip_reasons(results: Sequence[ConformanceResult]) -> dict[str, int]:
    """How many tests each reason skipped, over all results."""
    counts: dict[str, int] = {}
    for result in results:
        for skip in result.skips:
            counts[skip.reason] = counts.get(skip.reason, 0) + 1
    return counts
