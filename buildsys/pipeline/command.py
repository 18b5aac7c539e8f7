"""`python -m buildsys build`: the whole way from the pin to proved wheels."""

from __future__ import annotations

import argparse
import platform
import sys

from buildsys import vendor
from buildsys.matrix import BuildRow, rows, select, select_one
from buildsys.matrix.options import add_row_options, customised
from buildsys.pipeline import proof
from buildsys.pipeline.native import build_native
from buildsys.pipeline.report import Stopwatch, WheelReport, print_reports
from buildsys.pipeline.tools import add_tool_options, find_own_programs
from buildsys.pipeline.wheel import package_wheel, repair_wheel
from buildsys.sbom.wheel import add_sbom

NAME = "build"
HELP = "Fetch, compile, package, repair, audit and prove wheels; ends with a report per wheel."
EXAMPLE = "python -m buildsys build linux_x86_64-cpu --python 3.12"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument(
        "patterns", nargs="*", metavar="IDENTIFIER", help="rows of the matrix, shell-style (default: this machine's CPU wheel)"
    )
    parser.add_argument(
        "--python", action="append", metavar="X.Y", help="prove on this Python; repeatable (default: all of 3.10-3.14 found)"
    )
    parser.add_argument("--no-conformance", action="store_true", help="stop after the audit: such a wheel is not proved")
    add_tool_options(parser)
    add_row_options(parser)


def run(args: argparse.Namespace) -> int:
    """Build the rows one after the other, and report."""
    chosen = [customised(row, args) for row in (select(args.patterns) if args.patterns else [host_row()])]
    find_own_programs()
    print_reports([_build(row, args) for row in chosen])
    return 0


def host_row() -> BuildRow:
    """The build for this machine's own processor, without a GPU vendor's toolkit."""
    systems = {"linux": "linux", "win32": "windows", "darwin": "macos"}
    machine = f"{systems.get(sys.platform, sys.platform)}_{platform.machine().lower()}"
    found = next((row for row in rows() if row.identifier.startswith(f"{machine}-") and row.cuda is None), None)
    return found or select_one(f"{machine}-cpu")


def _build(row: BuildRow, args: argparse.Namespace) -> WheelReport:
    stopwatch = Stopwatch()
    with stopwatch.stage("vendor"):
        vendor.populate(say=lambda line: print(line, file=sys.stderr, flush=True))
    with stopwatch.stage("compile"):
        native = build_native(row, toolchain=args.toolchain, toolkit=args.toolkit, keep_tree=args.keep_build_tree)
    with stopwatch.stage("package"):
        packaged = package_wheel(row, native.folder)
    with stopwatch.stage("repair"):
        wheel = repair_wheel(row, packaged)
    with stopwatch.stage("sbom"):
        add_sbom(row, wheel, native.folder)
    with stopwatch.stage("audit"):
        audit = proof.audit(row, wheel)
    proved = proof.Proof(lines=(), sample="(not proved)")
    if not args.no_conformance:
        with stopwatch.stage("conformance"):
            proved = proof.prove(row, wheel, args.python)
    return WheelReport(row=row, wheel=wheel, native_cached=native.cached, audit=audit, proof=proved, stopwatch=stopwatch)
