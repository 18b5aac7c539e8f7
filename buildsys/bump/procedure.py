"""The move itself: steps that find out by themselves whether they are done, so that a run that stopped goes on when it is repeated."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from buildsys import vendor
from buildsys.bindgen import command as bindgen
from buildsys.bump import trees
from buildsys.bump.pin_file import with_archive, write_pin
from buildsys.errors import BindgenError, BumpError, ConformanceFailedError
from buildsys.project import PIN, ROOT, VENDOR, Pin, pin
from buildsys.tables import load_toml
from buildsys.vendor import checkout

_OWN = " ".join(trees.OWN_PATHS)
UNDO = f"git restore --staged --worktree {_OWN} && python -m buildsys vendor"


@dataclass(frozen=True, kw_only=True)
class Request:
    """What was asked for."""

    commit: str
    archive: str = ""
    dry_run: bool = False
    build: bool = True
    pythons: Sequence[str] = ()


def move(request: Request) -> int:
    """Report what the move changes, and make it; the exit code is that of the build."""
    before = trees.committed_pin()
    under_way = load_toml(PIN, Pin)
    wanted = _wanted(request, before, under_way)
    if before == under_way == wanted:
        print(f"the pin is {wanted.commit} already")
        return 0
    if not request.dry_run:
        _check_beginning(before, under_way, wanted)
    old, new = trees.source_tree(before, _say), trees.source_tree(wanted, _say)
    trees.discard_others([old, new])
    _report(before, wanted, old, new)
    if request.dry_run:
        _try_generating(new)
        return 0
    _change_tree(wanted)
    code = _build(request.pythons) if request.build else None
    _say_what_remains(wanted, code)
    return code or 0


def _check_beginning(before: Pin, under_way: Pin, wanted: Pin) -> None:
    """Only a tree without changes is moved; one that is on its way to the same commit may hold adaptions too."""
    if under_way.commit not in {before.commit, wanted.commit}:
        hint = f"give that commit to finish it, or undo it: {UNDO}"
        raise BumpError(f"a move to {under_way.commit} is under way", hint=hint)
    if under_way == before:
        trees.require_clean()


def _wanted(request: Request, before: Pin, under_way: Pin) -> Pin:
    """The pin to move to. A repeated command need not name the archive again."""
    if not request.archive:
        for known in (under_way, before):
            if known.commit == request.commit:
                return known
    return with_archive(request.commit, before.repository, request.archive)


def _report(before: Pin, wanted: Pin, old: Path, new: Path) -> None:
    try:
        from buildsys.bump.report import report_lines  # noqa: PLC0415 - needs libclang, which only this and bindgen do
    except ImportError as error:
        raise BindgenError(f"libclang is not installed ({error})", hint="pip install --group bindgen") from error
    print(f"llama.cpp {before.commit[:9]} → {wanted.commit[:9]}")
    for line in report_lines(old, new):
        print(line)
    print(flush=True)


def _try_generating(new: Path) -> None:
    """Say whether the bindings can be generated from the new headers, and how much would change."""
    files = bindgen.generated_files(new)
    changed = sum(bindgen.current_text(ROOT / path) != text for path, text in files.items())
    print(f"Bindings: {changed} of {len(files)} generated files would change, {len(bindgen.stale_files(ROOT, files))} would go")


def _change_tree(wanted: Pin) -> None:
    """Pin, submodule, gitlink, bindings; each is left alone where it is right already."""
    write_pin(wanted)
    pin.cache_clear()
    if vendor.populate(say=_say):
        _say("vendor/llama.cpp: moved")
    checkout.git("add", VENDOR.relative_to(ROOT).as_posix(), cwd=ROOT)
    files = bindgen.generated_files(VENDOR)
    stale = bindgen.stale_files(ROOT, files)
    written = bindgen.write(ROOT, files, stale)
    _say(f"bindings: {written} files written, {len(stale)} removed")


def _build(pythons: Sequence[str]) -> int:
    """Build and prove this machine's wheel in a process of its own, which reads the new pin; returns its exit code."""
    named = [word for python in pythons for word in ("--python", python)]
    return subprocess.run([sys.executable, "-m", "buildsys", "build", *named], cwd=ROOT, check=False).returncode


def _say_what_remains(wanted: Pin, code: int | None) -> None:
    verdicts = {
        None: "not built, not proved",
        0: "built and proved",
        ConformanceFailedError.exit_code: "built, and the conformance suite FAILED: its failures stand above",
    }
    print(f"\nllama.cpp {wanted.commit[:9]}: {verdicts.get(code, f'NOT built: the build ended with exit code {code}')}")
    if wanted.archive is None:
        print("No package archive carries this commit (--archive NAME==VERSION): it can only be had from the origin repository.")
    changed = [path for path in trees.changed_paths() if not path.startswith(trees.OWN_PATHS)]
    if changed:
        print(f"Changed beside what this command writes: {', '.join(changed)}")
    if code:
        print("To go on: adapt the code, then the same command again.")
    print(f'To keep it: git add {_OWN} && git commit -m "Move llama.cpp to {wanted.commit[:9]}"')
    print(f"To undo it: {UNDO}")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
