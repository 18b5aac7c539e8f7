"""`python -m buildsys matrix`: lists the builds as a table or as JSON."""

from __future__ import annotations

import argparse

import msgspec
from rich.console import Console
from rich.table import Table

from buildsys.matrix import select

NAME = "matrix"
HELP = "List the builds of the matrix, as a table or as JSON."
EXAMPLE = "python -m buildsys matrix --json 'linux_*'"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("patterns", nargs="*", default=["*"], metavar="PATTERN", help="identifiers, shell-style (default: all)")
    parser.add_argument("--json", action="store_true", help="print the rows as a JSON list")


def run(args: argparse.Namespace) -> int:
    """Print the selected rows."""
    chosen = select(args.patterns)
    if args.json:
        print(msgspec.json.encode(chosen).decode())
        return 0
    table = Table("identifier", "toolchain", "target", "platform tag at most", "CPU variants", box=None)
    for row in chosen:
        table.add_row(row.identifier, row.toolchain, row.target, row.platform_tag, str(len(row.cpu_variants)))
    Console().print(table)
    return 0
