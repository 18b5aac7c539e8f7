"""`python -m buildsys wine`: a Windows wheel's libraries, opened and run under wine."""

from __future__ import annotations

import argparse
from pathlib import Path

from buildsys.errors import ConformanceFailedError
from buildsys.wine.runner import run_wine

NAME = "wine"
HELP = "Prove Windows wheels on Linux: every CPU variant decodes under wine what the Linux wheel's decodes here."
EXAMPLE = "python -m buildsys wine dist/llama_cpp_python-*-win_amd64.whl"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("wheels", nargs="+", type=Path, metavar="WHEEL", help="Windows wheels")
    parser.add_argument("--reference", type=Path, metavar="WHEEL", help="the Linux wheel to compare with (default: the newest in dist/)")


def run(args: argparse.Namespace) -> int:
    """Prove each wheel and print a line per fact."""
    failed = False
    for wheel in args.wheels:
        proof = run_wine(wheel, reference=args.reference)
        print(f"{wheel.name}, beside {proof.reference.name}")
        for line in proof.lines():
            print(f"  {line}")
        failed = failed or not proof.ok
    return ConformanceFailedError.exit_code if failed else 0
