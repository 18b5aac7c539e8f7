"""`python -m buildsys bindgen`: writes the bindings and the layout probe, or checks that they are what the headers give."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Mapping
from pathlib import Path

from buildsys.bindgen.catalogue import load_catalogue
from buildsys.bindgen.places import BINDINGS
from buildsys.errors import BindgenError
from buildsys.project import ROOT, VENDOR

NAME = "bindgen"
HELP = "generate the ctypes bindings and the layout probe from the pinned headers"
EXAMPLE = "python -m buildsys bindgen --check"

_DIFF_LINES = 200


class StaleBindingsError(BindgenError):
    """The generated files in the tree are not what the pinned headers give."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("--check", action="store_true", help="change nothing; fail and show the difference if anything would change")
    parser.add_argument("--source", type=Path, default=VENDOR, help="the llama.cpp checkout to read (default: vendor/llama.cpp)")


def run(args: argparse.Namespace) -> int:
    """Generate, then write or compare."""
    files = generated_files(args.source)
    stale = stale_files(ROOT, files)
    if args.check:
        check(ROOT, files, stale)
        print(f"{len(files)} generated files are up to date")
        return 0
    written = write(ROOT, files, stale)
    print(f"{len(files)} generated files, {written} written, {len(stale)} removed")
    return 0


def generated_files(source: Path) -> dict[Path, str]:
    """Text of every generated file, from the checkout at `source`."""
    try:
        from buildsys.bindgen.generate import generate  # noqa: PLC0415 - needs libclang, which only this command does
        from buildsys.bindgen.read import SourceTree  # noqa: PLC0415
    except ImportError as error:
        raise BindgenError(f"libclang is not installed ({error})", hint="pip install --group bindgen") from error
    return generate(SourceTree(source, load_catalogue()))


def stale_files(root: Path, files: Mapping[Path, str]) -> list[Path]:
    """Files in generated folders that are not generated any more."""
    present = {path.relative_to(root) for path in (root / BINDINGS).rglob("*.py")}
    return sorted(present - set(files))


def write(root: Path, files: Mapping[Path, str], stale: list[Path]) -> int:
    """Bring the tree up to date; files that hold the right text already are left alone."""
    written = 0
    for path, text in files.items():
        target = root / path
        if current_text(target) != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", newline="\n")
            written += 1
    for path in stale:
        (root / path).unlink()
    return written


def check(root: Path, files: Mapping[Path, str], stale: list[Path]) -> None:
    """Print what regeneration would change and raise; return when nothing would."""
    changed = [path for path, text in files.items() if current_text(root / path) != text]
    if not changed and not stale:
        return
    lines = [line for path in changed for line in _difference(path, current_text(root / path), files[path])]
    for line in lines[:_DIFF_LINES]:
        print(line)
    if len(lines) > _DIFF_LINES:
        print(f"… and {len(lines) - _DIFF_LINES} more lines")
    for path in stale:
        print(f"no longer generated: {path}")
    raise StaleBindingsError(
        f"{len(changed)} generated files differ from what the headers give, {len(stale)} are left over",
        hint="run `python -m buildsys bindgen` and commit what it writes",
    )


def current_text(path: Path) -> str | None:
    """What a generated file holds now; `None` where there is none."""
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _difference(path: Path, current: str | None, wanted: str) -> list[str]:
    before = [] if current is None else current.splitlines()
    return list(difflib.unified_diff(before, wanted.splitlines(), f"a/{path.as_posix()}", f"b/{path.as_posix()}", lineterm=""))
