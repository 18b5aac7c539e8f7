"""`python -m buildsys systems`: wheels proved inside old and new Debian systems, one row each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import parse_wheel_filename
from rich.console import Console
from rich.table import Table

from buildsys.conformance.command import skip_reasons
from buildsys.errors import ConformanceFailedError, WheelError
from buildsys.project import DIST
from buildsys.systems.root import RootUnavailableError
from buildsys.systems.runner import run_systems
from buildsys.systems.table import table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from buildsys.systems.results import SystemResult

NAME = "systems"
HELP = "Prove Linux wheels inside old and new Debian systems, made with debootstrap (as root, or root of a user namespace)."
EXAMPLE = "python -m buildsys systems --wheel dist/llama_cpp_python-1.0-py3-none-manylinux_2_28_x86_64.whl bullseye sid -- -k tokenizer"

_FILE_WIDTH = 120


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument(
        "items",
        nargs="*",
        metavar="SYSTEM",
        help="systems of buildsys/systems.toml, after all options (default: all of them); what follows `--` goes to pytest",
    )
    parser.add_argument(
        "--wheel", action="append", type=Path, metavar="WHEEL", help="a Linux wheel; repeatable (default: the newest CPU wheels of dist/)"
    )
    parser.add_argument("--mirror", default="", metavar="URL", help="where Debian's packages come from (default: the table's)")
    parser.add_argument("--fresh", action="store_true", help="make the roots anew, although they are in the cache")
    parser.add_argument("--list", action="store_true", help="only print the table of systems")


def run(args: argparse.Namespace) -> int:
    """Prove the wheels; the exit code says whether all held on all systems."""
    if args.list:
        print_systems()
        return 0
    count = next((index for index, item in enumerate(args.items) if item.startswith("-")), len(args.items))
    pytest_args = [item for item in args.items[count:] if item != "--"]
    results = run_systems(args.items[:count], args.wheel or built_wheels(), mirror=args.mirror, fresh=args.fresh, pytest_args=pytest_args)
    print_results(results)
    failed = ", ".join(f"{result.wheel} on {result.system}" for result in results if result.verdict == "FAILED")
    unproved = ", ".join(result.system for result in results if result.obstacle)
    if failed:
        raise ConformanceFailedError(f"the wheel failed: {failed}", hint="repeat one with `SYSTEM -- -k NAME -x --tb=long`")
    if unproved:
        raise RootUnavailableError(f"nothing is proved on {unproved}", hint="the lines above say why; no wheel failed")
    return 0


def built_wheels(folder: Path = DIST) -> list[Path]:
    """Of the CPU wheels for Linux in `folder`, the newest ones: those of the highest version."""
    versions = {path: parse_wheel_filename(path.name)[1] for path in sorted(folder.glob("*linux*.whl"))}
    plain = {path: version for path, version in versions.items() if version.local is None}
    if not plain:
        raise WheelError(f"{folder} holds no CPU wheel for Linux", hint="run `nox -s build_wheels` first, or name one with --wheel")
    return [path for path, version in plain.items() if version == max(plain.values())]


def print_systems() -> None:
    """The systems that there are."""
    listing = Table("system", "Debian", "machine", "glibc", "Python", "suite", box=None)
    for system in table().system:
        python = system.python or "its own"
        listing.add_row(system.name, system.suite, system.machine, system.glibc or "newest", python, system.extent)
    _out().print(listing)


def print_results(results: Sequence[SystemResult]) -> None:
    """One row per system and wheel, then whatever there is to say of each."""
    out = _out()
    summary = Table("system", "glibc", "Python", "CPU variant", "suite", "passed", "failed", "skipped", "seconds", "verdict", box=None)
    for result in results:
        suite = result.suite
        counts = (str(suite.passed), str(suite.failed), str(suite.skipped), f"{suite.seconds:.0f}") if suite else ("-",) * 4
        extent = suite.extent if suite else "-"
        known = (value or "-" for value in (result.glibc, result.python, result.variant))
        summary.add_row(result.system, *known, extent, *counts, result.verdict)
    for wheel in dict.fromkeys(result.wheel for result in results if result.wheel):
        out.print(wheel)
    out.print(summary)
    for result in results:
        _print_details(out, result)
    for reason, count in skip_reasons([result.suite for result in results if result.suite]).items():
        out.print(f"skipped {count}: {reason}")


def _print_details(out: Console, result: SystemResult) -> None:
    for processor in result.processors:
        out.print(f"{result.system} as {processor.cpu}: {processor.chosen or '-'}, {processor.text!r} in {processor.seconds:.0f} s")
    for note in result.notes:
        out.print(f"{result.system}: {note}")
    if result.obstacle:
        out.print(f"{result.system}: not proved: {result.obstacle}")
    for fault in result.faults:
        out.print(f"failed on {result.system}: {fault}")
    for failure in result.suite.failures if result.suite else ():
        out.print(f"failed on {result.system}: {failure.test}: {failure.reason}")


def _out() -> Console:
    # Where output is kept in a file, a row stays one line.
    return Console(soft_wrap=True, highlight=False, markup=False, width=None if sys.stdout.isatty() else _FILE_WIDTH)
