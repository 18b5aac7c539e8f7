"""The state of the project's git tree, and checkouts of the two commits to compare, kept in the build cache."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from buildsys import vendor
from buildsys.bindgen.places import BINDINGS, PROBE
from buildsys.bump.pin_file import parse_pin
from buildsys.errors import BumpError, VendorError
from buildsys.project import PIN, ROOT, VENDOR, Pin, cache_dir
from buildsys.vendor import checkout

# What a move of the pin changes by itself.
OWN_PATHS = (PIN.relative_to(ROOT).as_posix(), VENDOR.relative_to(ROOT).as_posix(), BINDINGS.as_posix(), PROBE.as_posix())

SHOWN_PATHS = 10


def committed_pin(root: Path = ROOT) -> Pin:
    """The pin of the last commit, whatever the work tree says by now."""
    try:
        text = checkout.git("show", f"HEAD:{OWN_PATHS[0]}", cwd=root)
    except VendorError as error:
        raise BumpError(
            f"{root} has no committed {OWN_PATHS[0]}: {error.message}", hint="run this in a git clone of the project"
        ) from error
    return parse_pin(text, f"HEAD:{OWN_PATHS[0]}")


def changed_paths(root: Path = ROOT) -> list[str]:
    """Tracked files that differ from the last commit, and unknown files where generated ones are to lie."""
    tracked = checkout.git("diff", "--name-only", "HEAD", cwd=root).splitlines()
    unknown = checkout.git("ls-files", "--others", "--exclude-standard", "--", OWN_PATHS[2], cwd=root).splitlines()
    return sorted({*tracked, *unknown})


def require_clean(root: Path = ROOT) -> None:
    """Refuse to begin where something uncommitted could be lost or mixed up with the move.

    Raises:
        BumpError: naming what was changed.
    """
    if changed := changed_paths(root):
        shown = "".join(f"\n  {path}" for path in changed[:SHOWN_PATHS]) + ("\n  …" if len(changed) > SHOWN_PATHS else "")
        raise BumpError(f"the tree has changes that are not committed:{shown}", hint="commit them, or put them aside with `git stash`")


def source_tree(wanted: Pin, say: Callable[[str], None], *, home: Path | None = None, local: Path = VENDOR) -> Path:
    """A checkout of `wanted` that nobody builds in: from the cache, from the project's own submodule, or from a source."""
    folder = (home or cache_dir() / "bump") / wanted.commit
    if not checkout.is_at(folder, wanted.commit):
        if checkout.head(local) == wanted.commit:
            checkout.fetch(folder, local.as_uri(), "HEAD", wanted.commit)
        else:
            vendor.fetch(folder, wanted, say)
    return folder


def discard_others(kept: list[Path]) -> None:
    """Remove the cached checkouts of former moves."""
    for folder in kept[0].parent.iterdir():
        if folder not in kept:
            shutil.rmtree(folder, ignore_errors=True)
