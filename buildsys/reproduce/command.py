"""`python -m buildsys reproduce`: builds a wheel twice, differently, and compares the two byte for byte."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from buildsys.download import sha256_of
from buildsys.errors import CommandFailedError, NotReproducibleError
from buildsys.matrix import select_one
from buildsys.pipeline.command import host_row
from buildsys.pipeline.tools import find_own_programs
from buildsys.project import ROOT, cache_dir
from buildsys.reproduce.difference import differences
from buildsys.reproduce.twice import FIRST, SECOND, build, wait_a_tick

NAME = "reproduce"
HELP = (
    "Build a wheel twice, in different folders, homes, caches, time zones and locales, with different umasks and at different times, "
    "and compare byte for byte."
)
EXAMPLE = "python -m buildsys reproduce --quick linux_x86_64-cu131 -- --architectures 75-virtual"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument(
        "items",
        nargs="*",
        metavar="IDENTIFIER",
        help="one row of the matrix, after all options (default: this machine's CPU wheel); what follows `--` goes to `build`",
    )
    parser.add_argument("--quick", action="store_true", help="compile once at most: what is repeated is the packaging")
    parser.add_argument("--keep", action="store_true", help="keep both builds, even if they are equal")


def run(args: argparse.Namespace) -> int:
    """Build twice and compare.

    Raises:
        NotReproducibleError: the wheels differ; every differing member has been printed.
    """
    find_own_programs()
    identifier, options = _split(args.items)
    base = cache_dir() / "reproduce" / identifier
    native = _compiled(identifier, options) if args.quick else None
    wheels = []
    table = Table("build in", "seconds", "bytes", "SHA-256", box=None)
    for place in (FIRST, SECOND):
        started = time.monotonic()
        wheels.append(build(place, base, identifier, options, native=native))
        seconds = f"{time.monotonic() - started:.0f}"
        table.add_row(place.folder, seconds, str(wheels[-1].stat().st_size), sha256_of(wheels[-1]))
        wait_a_tick()
    print(wheels[0].name)
    Console(soft_wrap=True, highlight=False).print(table)
    _compare(wheels[0], wheels[1])
    print(f"{identifier}: the two wheels are equal, byte for byte")
    if not args.keep:
        shutil.rmtree(base)
    return 0


def _split(items: list[str]) -> tuple[str, list[str]]:
    """The identifier, and the options for `build`."""
    named = bool(items) and not items[0].startswith("-")
    identifier = select_one(items[0]).identifier if named else host_row().identifier
    return identifier, [item for item in items[named:] if item != "--"]


def _compare(first: Path, second: Path) -> None:
    if first.name != second.name:
        raise NotReproducibleError(f"the builds made {first.name} and {second.name}", hint="compare their symbols with auditwheel show")
    found = differences(first, second)
    for difference in found:
        print(f"  {difference}")
    if found:
        members = len({difference.member for difference in found})
        message = f"{first.name}: {len(found)} differences in {members} members"
        raise NotReproducibleError(message, hint=f"for all of each difference: diffoscope {first} {second}")


def _compiled(identifier: str, options: list[str]) -> Path:
    """The row's compiled output in this cache."""
    command = [sys.executable, "-m", "buildsys", "compile", identifier, *options]
    done = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise CommandFailedError(f"compiling {identifier} failed with exit code {done.returncode}", hint="its message stands above")
    return Path(done.stdout.splitlines()[-1])
