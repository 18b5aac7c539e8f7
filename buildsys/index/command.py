"""`python -m buildsys index`: writes the static package index of finished wheels."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import urlsplit

from buildsys.errors import ConfigurationError
from buildsys.index.distribution import PROJECT, Distribution, FileRefusedError, folder_of, read_all
from buildsys.index.entries import FileEntry, entry_of, merged, read_previous
from buildsys.index.site import Site, contents_beside, contents_of, write_metadata, write_site
from buildsys.index.yanks import YANKED, load_yanks, with_yanks
from buildsys.matrix import BuildRow, rows

NAME = "index"
HELP = "Write a static package index of finished wheels, one folder per accelerator, for pip, uv and people."
EXAMPLE = "python -m buildsys index dist site --address https://wheels.example.org/"

_UPLOAD_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("dist", type=Path, metavar="DIST", help="folder with the wheels and the source distribution")
    parser.add_argument("out", type=Path, metavar="OUT", help="folder to write the site to; an index that is there is replaced")
    parser.add_argument(
        "--address",
        default="http://localhost:8000/",
        metavar="URL",
        help="where the site will be served, for its command lines (default: %(default)s)",
    )
    parser.add_argument("--previous", type=Path, metavar="SITE", help="a site that was published before: its releases stay on offer")
    parser.add_argument(
        "--yanked", type=Path, default=YANKED, metavar="FILE", help="withdrawn releases (default: buildsys/index/yanked.toml)"
    )
    parser.add_argument(
        "--files-url",
        default="",
        metavar="URL",
        help="where the new files lie instead of beside their page; {version} stands for the version",
    )
    parser.add_argument(
        "--metadata",
        type=Path,
        metavar="DIR",
        help="with --files-url: write the .metadata files here, to be uploaded beside the wheels; without it the index offers none",
    )
    parser.add_argument(
        "--upload-time",
        default="",
        metavar="TIME",
        help="when the new files were published, as 2026-01-31T12:00:00Z (default: SOURCE_DATE_EPOCH, else unstated)",
    )


def run(args: argparse.Namespace) -> int:
    """Read the files, add them to what was published, write the site, and say what is in it."""
    files_url = checked_files_url(args.files_url)
    if args.metadata and not files_url:
        raise ConfigurationError("--metadata is for files that lie elsewhere", hint="leave it out, or add --files-url")
    distributions = read_all(args.dist, rows())
    if not distributions and not args.previous:
        raise FileRefusedError(f"{args.dist} holds no wheel and no source distribution", hint="build one: `python -m buildsys build`")
    previous = read_previous(args.previous) if args.previous else {}
    upload_time = checked_upload_time(args.upload_time)
    new = {
        distribution.filename: entry_of(
            distribution, files_url=files_url, states_metadata=not files_url or args.metadata is not None, upload_time=upload_time
        )
        for distribution in distributions
    }
    folders = {
        name: merged(previous.get(name, []), [new[each.filename] for each in distributions if each.folder == name])
        for name in folder_names(distributions, previous, rows())
    }
    site = Site(
        folders=with_yanks(folders, load_yanks(args.yanked), complete=args.previous is not None),
        rows=rows(),
        address=args.address,
        contents={**contents_of(distributions), **(contents_beside(args.previous, previous) if args.previous else {})},
    )
    if args.metadata:
        write_metadata(distributions, args.metadata)
    write_site(site, args.out)
    for name, entries in site.folders.items():
        yanked = sum(bool(entry.yanked) for entry in entries)
        print(f"{name}/{PROJECT}/: {len(entries)} files{f', {yanked} of them withdrawn' if yanked else ''}")
    return 0


def folder_names(distributions: Sequence[Distribution], previous: dict[str, list[FileEntry]], matrix: Sequence[BuildRow]) -> list[str]:
    """Every folder that has a file: those of the matrix in its order, then those that only older releases had."""
    filled = {each.folder for each in distributions} | set(previous)
    current = list(dict.fromkeys(folder_of(row) for row in matrix))
    return [name for name in [*current, *sorted(set(previous) - set(current))] if name in filled]


def checked_files_url(url: str) -> str:
    """`url` with a slash at its end.

    Raises:
        ConfigurationError: it is no web address, or has another placeholder than `{version}`.
    """
    if not url:
        return ""
    if urlsplit(url).scheme not in {"http", "https"} or set(re.findall(r"\{.*?\}|[{}]", url)) - {"{version}"}:
        raise ConfigurationError(
            f"--files-url {url} is no address of files", hint="an example: https://github.com/OWNER/NAME/releases/download/v{version}/"
        )
    return url.rstrip("/") + "/"


def checked_upload_time(stated: str) -> str:
    """The time in the form that PEP 700 asks for; without one, the time of SOURCE_DATE_EPOCH, or nothing."""
    if not stated and (epoch := os.environ.get("SOURCE_DATE_EPOCH", "")):
        stated = datetime.fromtimestamp(int(epoch), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    if stated and not _UPLOAD_TIME.fullmatch(stated):
        raise ConfigurationError(f"--upload-time {stated} is no time in UTC", hint="write it as 2026-01-31T12:00:00Z")
    return stated
