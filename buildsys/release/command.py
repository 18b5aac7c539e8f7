"""`python -m buildsys release`: the checks and the files of a release; publishing is the workflow's."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from buildsys.matrix import rows
from buildsys.release.changelog import CHANGELOG, check_tag, notes
from buildsys.release.files import collect, write_checksums

NAME = "release"
HELP = "Check that a tag may be released, print its notes, and bring its files together with their checksums."
EXAMPLE = "python -m buildsys release check v0.4.0"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add one subcommand per step."""
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)
    checking = steps.add_parser("check", help="the tag, _version.py and the changelog agree; prints the version")
    checking.add_argument("tag", metavar="TAG")
    checking.set_defaults(act=_check)
    noting = steps.add_parser("notes", help="print the changelog's section of the tag's version")
    noting.add_argument("tag", metavar="TAG")
    noting.set_defaults(act=_notes)
    collecting = steps.add_parser("collect", help="sort one wheel per row and the sources into folders by where they are published")
    collecting.add_argument("dist", type=Path, metavar="DIST")
    collecting.add_argument("out", type=Path, metavar="OUT")
    collecting.set_defaults(act=_collect)
    summing = steps.add_parser("checksums", help="write SHA256SUMS over the files of a folder")
    summing.add_argument("folder", type=Path, metavar="DIR")
    summing.set_defaults(act=_checksums)


def run(args: argparse.Namespace) -> int:
    """Do the chosen step."""
    act: Callable[[argparse.Namespace], int] = args.act
    return act(args)


def _check(args: argparse.Namespace) -> int:
    print(check_tag(args.tag, CHANGELOG.read_text(encoding="utf-8")))
    return 0


def _notes(args: argparse.Namespace) -> int:
    print(notes(args.tag.removeprefix("v"), CHANGELOG.read_text(encoding="utf-8")))
    return 0


def _collect(args: argparse.Namespace) -> int:
    folders = collect(args.dist, args.out, rows())
    for folder in (folders.assets, folders.package_index, folders.sboms):
        print(f"{folder}: {len(list(folder.iterdir()))} files")
    return 0


def _checksums(args: argparse.Namespace) -> int:
    print(write_checksums(args.folder))
    return 0
