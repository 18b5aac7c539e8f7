"""`python -m buildsys vendor`: populates `vendor/llama.cpp` with the pinned commit."""

from __future__ import annotations

import argparse
import sys

from buildsys.vendor import populate

NAME = "vendor"
HELP = "Populate vendor/llama.cpp with the pinned commit; silent when it is already there."
EXAMPLE = "python -m buildsys vendor"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments: it has none."""
    del parser


def run(args: argparse.Namespace) -> int:
    """Populate the folder, saying what is tried."""
    del args
    populate(say=lambda line: print(line, file=sys.stderr, flush=True))
    return 0
