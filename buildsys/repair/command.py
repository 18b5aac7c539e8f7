"""`python -m buildsys repair`: packaged wheels into wheels with an honest platform tag."""

from __future__ import annotations

import argparse
from pathlib import Path

from buildsys.errors import WheelError
from buildsys.matrix import rows
from buildsys.matrix.wheels import row_of_wheel
from buildsys.pipeline.tools import find_own_programs
from buildsys.pipeline.wheel import repair_wheel
from buildsys.project import DIST
from buildsys.sbom.wheel import add_sbom

NAME = "repair"
HELP = "Repair packaged wheels with the system's tool (auditwheel, delvewheel, delocate): each gets the platform tag that it earns."
EXAMPLE = "python -m buildsys repair packaged/*.whl --output dist"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("wheels", nargs="+", type=Path, metavar="WHEEL", help="wheel files that `package`, or a build frontend, made")
    parser.add_argument("--output", type=Path, default=DIST, metavar="DIR", help="where to put the repaired wheels (default: dist)")
    parser.add_argument("--native", type=Path, metavar="DIR", help="put the bill of materials in as well: the folder that `compile` wrote")


def run(args: argparse.Namespace) -> int:
    """Repair each wheel and print the paths."""
    find_own_programs()
    for wheel in args.wheels:
        if not wheel.is_file():
            raise WheelError(f"{wheel} does not exist", hint="make it with `python -m buildsys package`, or correct the path")
        row = row_of_wheel(wheel, rows())
        repaired = repair_wheel(row, wheel.resolve(), args.output.resolve())
        print(add_sbom(row, repaired, args.native) if args.native else repaired)
    return 0
