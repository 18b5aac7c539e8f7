"""`python -m buildsys matrix`: lists the builds as a table, as JSON, or as the job matrix of a workflow."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import msgspec
from rich.console import Console
from rich.table import Table

from buildsys.matrix import BuildRow, select
from buildsys.matrix.architectures import in_words
from buildsys.matrix.github import VIEWS, include
from buildsys.matrix.support import support_page

NAME = "matrix"
HELP = "List the builds of the matrix: as a table, as JSON, or as the job matrix of a GitHub workflow."
EXAMPLE = "python -m buildsys matrix --github tests 'linux_*' '*-cpu'"
PIPED_WIDTH = 100


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument(
        "patterns", nargs="*", metavar="PATTERN", help="identifiers, shell-style; one argument may hold several (default: all rows)"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the rows with all that they say, as a JSON list")
    form.add_argument("--github", choices=sorted(VIEWS), metavar="JOBS", help="print a job matrix on one line: builds, tests or gpus")
    form.add_argument("--markdown", action="store_true", help="print the support matrix, which is docs/support.md for all rows")


def run(args: argparse.Namespace) -> int:
    """Print the selected rows."""
    chosen = select([pattern for argument in args.patterns for pattern in argument.split()] or ["*"])
    if args.json:
        print(msgspec.json.format(msgspec.json.encode(chosen)).decode())
    elif args.github:
        print(msgspec.json.encode(include(chosen, args.github)).decode())
    elif args.markdown:
        print(support_page(chosen), end="")
    else:
        print_table(chosen)
    return 0


def print_table(chosen: Sequence[BuildRow]) -> None:
    """One line per row: what it is for, what makes it, and where a pipeline does."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("identifier", "accelerator", "toolchain", "platform tag at most", "built on"):
        table.add_column(heading, no_wrap=True)
    for row in chosen:
        table.add_row(row.identifier, accelerator_in_words(row), row.toolchain, row.platform_tag, row.runner)
    Console(highlight=False, width=None if sys.stdout.isatty() else PIPED_WIDTH).print(table)


def accelerator_in_words(row: BuildRow) -> str:
    """`CUDA 13.1, sm_75 to 121` for a CUDA row; how many CPU variants there are for the others."""
    if row.cuda is not None:
        return f"CUDA {row.cuda.toolkit}, {in_words(row.cuda.architectures)}"
    variants = f"{len(row.cpu_variants)} CPU variants"
    return f"Metal, {variants}" if row.accelerator == "metal" else variants
