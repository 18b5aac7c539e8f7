"""`python -m buildsys cibuildwheel`: one row's wheel, built as a release builds it."""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from buildsys.cibuildwheel import options
from buildsys.errors import CommandFailedError
from buildsys.matrix import select_one
from buildsys.project import DIST, ROOT

NAME = "cibuildwheel"
HELP = "Build one row's repaired wheel with cibuildwheel: in its release container on Linux, on the machine itself elsewhere."
EXAMPLE = "python -m buildsys cibuildwheel linux_x86_64-cu128"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("identifier", metavar="IDENTIFIER", help="one row of the matrix; a Linux one needs Docker or Podman")
    parser.add_argument("--output", type=Path, default=DIST, metavar="DIR", help="where to put the wheel (default: dist)")
    parser.add_argument("--print", action="store_true", help="print cibuildwheel's options, as NAME=VALUE lines, and stop")


def run(args: argparse.Namespace) -> int:
    """Run cibuildwheel with the row's options; its output is shown as it comes."""
    row = select_one(args.identifier)
    variables = options(row)
    if args.print:
        print("\n".join(f"{name}={value}" for name, value in variables.items()))
        return 0
    if importlib.util.find_spec("cibuildwheel") is None:
        raise CommandFailedError("cibuildwheel is not installed", hint="python -m pip install --group release (Python 3.11 or newer)")
    command = [sys.executable, "-m", "cibuildwheel", "--only", row.cibuildwheel, "--output-dir", str(args.output.resolve())]
    code = subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}, check=False).returncode
    if code:
        raise CommandFailedError(f"cibuildwheel ended with {code} on {row.identifier}", hint="its lines above say in which step")
    return 0
