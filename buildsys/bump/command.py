"""`python -m buildsys bump`: moves the pin of llama.cpp and tells what that changes."""

from __future__ import annotations

import argparse

from buildsys.bump.procedure import Request, move

NAME = "bump"
HELP = "Move the pin of llama.cpp: print the difference of its C interface, regenerate the bindings, rebuild and prove. Repeat it to go on."
EXAMPLE = "python -m buildsys bump --dry-run --archive llama-cpp-python==0.3.35 4df29be4f4c3673f428170fda944a5b19f743bb8"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("commit", metavar="COMMIT", help="the llama.cpp commit to move to, all 40 digits")
    parser.add_argument(
        "--archive",
        default="",
        metavar="NAME==VERSION",
        help="a source distribution that carries the commit, for machines without its origin",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the difference only, and change nothing in the tree")
    parser.add_argument("--no-build", dest="build", action="store_false", help="stop before compiling")
    parser.add_argument(
        "--python", action="append", default=[], metavar="X.Y", help="prove on this Python; repeatable (default: all found)"
    )


def run(args: argparse.Namespace) -> int:
    """Move, or report."""
    request = Request(commit=args.commit, archive=args.archive, dry_run=args.dry_run, build=args.build, pythons=args.python)
    return move(request)
