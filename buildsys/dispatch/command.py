"""`python -m buildsys dispatch`: a wheel run as Nehalem, SandyBridge, IvyBridge and Haswell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from buildsys.dispatch.runner import DispatchResult, run_dispatch
from buildsys.errors import ConformanceFailedError
from buildsys.matrix.wheels import built_for

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

NAME = "dispatch"
HELP = "Run a wheel under emulation as older processors: right CPU variant, right text, no illegal instruction."
EXAMPLE = "python -m buildsys dispatch --cpu Nehalem --cpu Haswell"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("wheel", nargs="?", type=Path, metavar="WHEEL", help="an x86-64 Linux wheel (default: the CPU wheel in dist/)")
    parser.add_argument(
        "--cpu", action="append", metavar="MODEL", help="a processor of buildsys/dispatch/cpus.toml; repeatable (default: all)"
    )
    parser.add_argument("--python", metavar="X.Y", help="the Python to run it with (default: the newest found)")


def run(args: argparse.Namespace) -> int:
    """Prove dispatch; the exit code says whether all processors did right."""
    wheel = args.wheel or built_for("linux_x86_64", accelerated=False)[-1]
    results = run_dispatch(wheel, cpus=args.cpu, python=args.python)
    print_results(results)
    broken = [result for result in results if not result.ok]
    if broken:
        faults = "; ".join(f"{result.cpu}: {result.fault}" for result in broken)
        raise ConformanceFailedError(f"dispatch failed: {faults}", hint="repeat one with --cpu MODEL")
    return 0


def print_results(results: Sequence[DispatchResult]) -> None:
    """One row per processor."""
    table = Table("processor", "due", "chosen", "text", "seconds", "verdict", box=None)
    for result in results:
        table.add_row(
            result.cpu, result.expected, result.chosen or "-", repr(result.text), f"{result.seconds:.1f}", "ok" if result.ok else "FAILED"
        )
    Console(soft_wrap=True, highlight=False, markup=False).print(table)
