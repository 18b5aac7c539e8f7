"""`python -m buildsys toolkits`: where CUDA toolkits come from on this machine, and whether one compiles."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from buildsys import toolkits, vendor
from buildsys.errors import UnknownBuildError
from buildsys.matrix import BuildRow, rows, select_one
from buildsys.pipeline.cuda import prepare_plugin
from buildsys.pipeline.tools import find_own_programs
from buildsys.toolkits.check import compile_some
from buildsys.toolkits.request import Request, this_system

NAME = "toolkits"
HELP = "List where CUDA toolkits come from on this machine, make one ready, or check that one compiles."
EXAMPLE = "python -m buildsys toolkits check linux_x86_64-cu131 --files 3"
PIPED_WIDTH = 140


def configure(parser: argparse.ArgumentParser) -> None:
    """Add one subcommand per action."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="every provider, and which of the matrix's releases it serves here")
    listing.set_defaults(act=_list)
    preparing = actions.add_parser("prepare", help="make the toolkit of a release ready and print its folder")
    preparing.add_argument("release", metavar="RELEASE", help="such as 13.1")
    _provider(preparing)
    preparing.set_defaults(act=_prepare)
    checking = actions.add_parser("check", help="compile a handful of CUDA files with a row's toolkit and flags")
    checking.add_argument("row", metavar="ROW", help="identifier of a CUDA row, or a release that this machine has a row for")
    checking.add_argument("--files", type=_positive, metavar="N", help="only the first N of the files in buildsys/toolkits.toml")
    target = checking.add_mutually_exclusive_group()
    target.add_argument("--architecture", default="", metavar="NN-KIND", help="compile for this one (default: the row's first)")
    target.add_argument("--all-architectures", action="store_true", help="compile for all of the row: takes as many times as long")
    _provider(checking)
    checking.set_defaults(act=_check)


def run(args: argparse.Namespace) -> int:
    """Run the chosen action."""
    act: Callable[[argparse.Namespace], int] = args.act
    return act(args)


def _provider(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--toolkit", default="", metavar="PROVIDER", help="where it comes from (default: the first that has it)")


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _list(args: argparse.Namespace) -> int:
    del args
    system = this_system()
    releases = sorted({row.cuda.toolkit for row in rows() if row.cuda}, key=lambda text: [int(part) for part in text.split(".")])
    table = _table("provider", *releases, "what it is")
    reasons = _table("provider", "release", f"why not here ({system})")
    for name, provider in toolkits.table().provider.items():
        obstacles = {release: provider.obstacle(Request(release=release, system=system)) for release in releases}
        table.add_row(name, *("-" if obstacles[release] else "yes" for release in releases), provider.summary)
        for reason in dict.fromkeys(filter(None, obstacles.values())):
            reasons.add_row(name, " ".join(release for release in releases if obstacles[release] == reason), reason)
    hosts = _table("host compiler", "here", "what it is")
    for name, host in toolkits.table().host.items():
        hosts.add_row(name, "yes" if system in host.systems and not host.obstacle(None) else "-", host.summary)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else PIPED_WIDTH)
    for part in (table, reasons, hosts):
        console.print(part)
        console.print()
    return 0


def _prepare(args: argparse.Namespace) -> int:
    ready = toolkits.prepare(args.release, args.toolkit)
    print(f"CUDA {ready.release} from {ready.provider}", file=sys.stderr)
    print(ready.root)
    return 0


def _check(args: argparse.Namespace) -> int:
    row = _row(args.row)
    find_own_programs()
    vendor.populate(say=lambda line: print(line, file=sys.stderr, flush=True))
    plugin = prepare_plugin(row, toolkit=args.toolkit)
    stated = plugin.flags["CMAKE_CUDA_ARCHITECTURES"].split(";")
    chosen = stated if args.all_architectures else [args.architecture or stated[0]]
    compiled = compile_some(plugin, toolkits.table().check.files[: args.files], architectures=chosen)
    table = _table("file", "seconds", "kB", "code for")
    for entry in compiled:
        table.add_row(entry.file, f"{entry.seconds:.0f}", f"{entry.size / 1000:.0f}", str(entry.code))
    Console(highlight=False, width=None if sys.stdout.isatty() else PIPED_WIDTH).print(table)
    host = Path(plugin.host.defines["CMAKE_CXX_COMPILER"]).name
    print(f"CUDA {plugin.toolkit.release} ({plugin.toolkit.provider}) with {plugin.host.name} ({host}) compiles for {', '.join(chosen)}")
    return 0


def _row(name: str) -> BuildRow:
    """The row with that identifier, or this system's row of that CUDA release."""
    if not name.replace(".", "").isdigit():
        return select_one(name)
    here = [row for row in rows() if row.cuda and row.cuda.toolkit == name and row.identifier.startswith(f"{this_system()}-")]
    if not here:
        raise UnknownBuildError(f"no build for {this_system()} has CUDA {name}", hint="python -m buildsys matrix '*-cu*' lists them")
    return here[0]


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, no_wrap=True, justify="right" if heading in {"seconds", "kB"} else "left")
    return table
