"""`python -m buildsys sdist`: makes the source distribution, checks it, and proves that it installs offline."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

from buildsys import vendor
from buildsys.errors import NotReproducibleError
from buildsys.pipeline.tools import find_own_programs
from buildsys.project import DIST, cache_dir
from buildsys.reproduce.difference import differences
from buildsys.reproduce.twice import SECOND, run_copy
from buildsys.sdist.contents import check
from buildsys.sdist.install import PROBE, prove_install
from buildsys.sdist.make import make_sdist

NAME = "sdist"
HELP = "Make the source distribution and check what is in it; CC, CXX and CMAKE_ARGS are the proof's as they are a user's."
EXAMPLE = "python -m buildsys sdist --reproduce --prove"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("--output", type=Path, default=DIST, metavar="DIR", help="where to put it (default: dist)")
    parser.add_argument("--reproduce", action="store_true", help="make it again in other surroundings, and compare byte for byte")
    parser.add_argument(
        "--prove",
        action="store_true",
        help="install it without a network, with the system's compiler, and generate text: minutes of compiling",
    )


def run(args: argparse.Namespace) -> int:
    """Make, check, compare, install."""
    find_own_programs()
    vendor.populate(say=lambda line: print(line, file=sys.stderr, flush=True))
    sdist = make_sdist(args.output.resolve())
    report = {"file": str(sdist), "size": f"{sdist.stat().st_size / 1e6:.2f} MB, {check(sdist)} files"}
    if args.reproduce:
        _compare(sdist)
        report["reproduced"] = "made again in other surroundings: the same bytes"
    if args.prove:
        report |= _proved(sdist)
    for name, value in report.items():
        print(f"{name:<12}{value}")
    return 0


def _proved(sdist: Path) -> dict[str, str]:
    started = time.monotonic()
    proof = prove_install(sdist)
    seconds = time.monotonic() - started
    network = "without a network" if proof.networkless else "with pip's index switched off"
    return {
        "installed": f"{network} with CMAKE_ARGS={PROBE} in {seconds:.0f} s",
        "libraries": " ".join(proof.libraries),
        "it says": f"“{proof.sample}”",
    }


def _compare(sdist: Path) -> None:
    base = cache_dir() / "reproduce" / "sdist"
    project = run_copy(SECOND, base, ["-m", "buildsys", "sdist", "--output", "dist"])
    (again,) = (project / "dist").glob("*.tar.gz")
    found = differences(sdist, again)
    for difference in found:
        print(f"  {difference}")
    if found:
        raise NotReproducibleError(f"{sdist.name}: {len(found)} differences", hint=f"for all of each: diffoscope {sdist} {again}")
    shutil.rmtree(base)
