"""`python -m buildsys sbom`: puts the bill of materials into a repaired wheel, or prints the one that a wheel has."""

from __future__ import annotations

import argparse
import zipfile
from pathlib import Path

from buildsys.errors import SbomError
from buildsys.matrix import rows
from buildsys.matrix.wheels import row_of_wheel
from buildsys.sbom.wheel import SBOM_PATH, add_sbom

NAME = "sbom"
HELP = "Put the bill of materials (CycloneDX) into a repaired wheel, in place; without --native, print the one it has."
EXAMPLE = "python -m buildsys sbom dist/*.whl --native native"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("wheel", type=Path, metavar="WHEEL", help="a wheel file")
    parser.add_argument(
        "--native", type=Path, metavar="DIR", help="what `python -m buildsys compile` made, of which the wheel was packaged"
    )


def run(args: argparse.Namespace) -> int:
    """Write or print the document."""
    row = row_of_wheel(args.wheel, rows())
    if args.native:
        print(add_sbom(row, args.wheel, args.native))
        return 0
    with zipfile.ZipFile(args.wheel) as archive:
        found = [name for name in archive.namelist() if name.endswith(f".dist-info/{SBOM_PATH}")]
        if not found:
            raise SbomError(f"{args.wheel.name} has no bill of materials", hint="name its native output with --native")
        print(archive.read(found[0]).decode(), end="")
    return 0
