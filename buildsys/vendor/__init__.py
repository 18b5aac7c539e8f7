"""The pinned llama.cpp: populated from whichever source answers, and verified by its commit id.

Nothing else in the project knows where the source comes from.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from buildsys.errors import BuildError, VendorError
from buildsys.project import ROOT, VENDOR, Pin, cache_dir, pin
from buildsys.vendor import checkout, sources


def populate(*, say: Callable[[str], None] = lambda _line: None) -> bool:
    """Make `vendor/llama.cpp` the pinned commit; `False` when it already was.

    Sources are tried in order, and the commit id decides: what a source delivers is fetched as git objects, whose
    hashes git verifies, and is checked out only if its commit is the pinned one.

    Raises:
        VendorError: local changes are in the way, or no source delivered the commit; says what each one answered.
    """
    lock = cache_dir() / "vendor.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(lock):
        if checkout.is_at(VENDOR, pin().commit):
            return False
        if is_plain_copy(VENDOR):
            message = f"{VENDOR} holds files that are not a git checkout, so they cannot be verified"
            raise VendorError(message, hint="move that folder away and run this again")
        fetch(VENDOR, pin(), say)
        checkout.adopt(VENDOR, ROOT)
        return True


def is_plain_copy(folder: Path) -> bool:
    """Whether `folder` has content without git's knowledge of it."""
    return folder.is_dir() and any(folder.iterdir()) and not (folder / ".git").exists()


def fetch(folder: Path, wanted: Pin, say: Callable[[str], None]) -> None:
    """Check out the commit of `wanted` in `folder`, from the first source that delivers it.

    Raises:
        VendorError: none did; says what each one answered.
    """
    failures: list[str] = []
    for source in sources.in_order(wanted):
        say(f"llama.cpp {wanted.commit[:9]}: trying {source.description}")
        try:
            remote, reference = source.open()
            checkout.fetch(folder, remote, reference, wanted.commit)
        except BuildError as error:
            failures.append(f"{source.description}: {error.message}")
            say(f"  no: {error.message.splitlines()[-1]}")
            continue
        say(f"llama.cpp {wanted.commit[:9]} is in {folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder}")
        return
    told = "".join(f"\n  - {failure}" for failure in failures)
    message = f"no source delivered llama.cpp {wanted.commit}; tried:{told}"
    raise VendorError(message, hint="check the network (git, and the package index that pip is configured with), then run this again")
