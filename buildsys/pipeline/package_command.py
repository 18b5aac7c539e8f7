"""`python -m buildsys package`: compiled libraries and the Python files into a wheel that is not yet repaired."""

from __future__ import annotations

import argparse
from pathlib import Path

from buildsys.errors import WheelError
from buildsys.matrix import select_one
from buildsys.pipeline.tools import find_own_programs
from buildsys.pipeline.wheel import package_wheel

NAME = "package"
HELP = "Package compiled libraries and the Python files into a wheel; `repair` comes next."
EXAMPLE = "python -m buildsys package linux_x86_64-cpu --native native --output packaged"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("identifier", metavar="IDENTIFIER", help="one row of the matrix")
    parser.add_argument("--native", type=Path, required=True, metavar="DIR", help="the folder that `compile` printed or wrote")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="where to put the wheel")


def run(args: argparse.Namespace) -> int:
    """Make the wheel and print its path."""
    native = args.native.resolve()
    if not (native / "llama_cpp" / "lib").is_dir():
        raise WheelError(f"{native} holds no llama_cpp/lib", hint="name the folder that `python -m buildsys compile` wrote")
    find_own_programs()
    print(package_wheel(select_one(args.identifier), native, args.output.resolve()))
    return 0
