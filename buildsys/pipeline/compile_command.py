"""`python -m buildsys compile`: the native libraries of one row, for a packaging that something else runs."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from buildsys import vendor
from buildsys.matrix import select_one
from buildsys.matrix.options import add_row_options, customised
from buildsys.pipeline.native import build_native
from buildsys.pipeline.tools import add_tool_options, find_own_programs

NAME = "compile"
HELP = "Compile the native libraries of one row and print their folder: what CMake's LLAMA_CPP_PREBUILT takes."
EXAMPLE = "python -m buildsys compile linux_x86_64-cpu --output native"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("identifier", metavar="IDENTIFIER", help="one row of the matrix")
    parser.add_argument("--output", type=Path, metavar="DIR", help="copy the libraries there (default: they stay in the cache)")
    add_tool_options(parser)
    add_row_options(parser)


def run(args: argparse.Namespace) -> int:
    """Compile, or take the cached output, and print the folder."""
    row = customised(select_one(args.identifier), args)
    find_own_programs()
    vendor.populate(say=lambda line: print(line, file=sys.stderr, flush=True))
    folder = build_native(row, toolchain=args.toolchain, toolkit=args.toolkit, keep_tree=args.keep_build_tree).folder
    if args.output:
        shutil.rmtree(args.output, ignore_errors=True)
        folder = Path(shutil.copytree(folder, args.output, symlinks=True))
    print(folder.resolve())
    return 0
