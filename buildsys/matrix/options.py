"""Options that change a row of the matrix for one run; every stage that they matter to takes the same ones."""

from __future__ import annotations

import argparse

import msgspec

from buildsys.errors import UnknownBuildError
from buildsys.matrix import BuildRow, rows


def add_row_options(parser: argparse.ArgumentParser) -> None:
    """Add `--architectures` and `--platform-tag`."""
    parser.add_argument(
        "--architectures",
        default="",
        metavar="LIST",
        help="CUDA architectures instead of the row's, such as 75-real,75-virtual: a smaller wheel, sooner built, for fewer GPUs",
    )
    parser.add_argument(
        "--platform-tag",
        default="",
        metavar="TAG",
        help="accept an earned tag up to this one, such as manylinux_2_36_x86_64, where the compiler's system is newer than the row allows",
    )


def customised(row: BuildRow, args: argparse.Namespace) -> BuildRow:
    """`row` as the options of :func:`add_row_options` change it.

    Raises:
        UnknownBuildError: an option that this row has no use for, or a value that no row could have.
    """
    if args.platform_tag:
        row = msgspec.structs.replace(row, platform_tag=args.platform_tag)
    if not args.architectures:
        return row
    if row.cuda is None:
        raise UnknownBuildError(f"{row.identifier} is no CUDA build: it has no architectures", hint="leave out --architectures")
    try:
        cuda = msgspec.convert({**msgspec.to_builtins(row.cuda), "architectures": args.architectures.split(",")}, type=type(row.cuda))
    except msgspec.ValidationError as error:
        raise UnknownBuildError(f"--architectures {args.architectures}: {error}", hint="an example: 80-real,90-real,90-virtual") from error
    return msgspec.structs.replace(row, cuda=cuda)


def customised_rows(args: argparse.Namespace) -> tuple[BuildRow, ...]:
    """All rows, the options applied where they have a meaning."""
    if not (args.architectures or args.platform_tag):
        return rows()
    return tuple(customised(row, args) if row.cuda or not args.architectures else row for row in rows())
